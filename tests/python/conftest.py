"""Fixtures that several test modules share."""

pytest_plugins = ["oracle.fixtures"]
