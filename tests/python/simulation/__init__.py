"""The gateway in a simulated world."""
