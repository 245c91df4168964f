"""Adapters with the real packages. `make test-adapters` installs them and runs these tests."""
