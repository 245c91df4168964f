"""Engines that really sample. `make test-engines` installs them and runs these tests."""
