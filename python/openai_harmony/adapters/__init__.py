"""Rollouts in other packages' trainers: each module is an adapter of one package.

They use public names only, so each is also an example of how to write another.
"""
