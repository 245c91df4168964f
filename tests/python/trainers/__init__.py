"""Trainers themselves read the rows. `make trainers` installs them and runs these tests."""
