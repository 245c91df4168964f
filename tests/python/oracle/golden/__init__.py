"""The generator of tests/golden."""
