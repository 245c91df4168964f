"""Agents in front of the gateway. `make test-agents` installs them and runs these tests."""
