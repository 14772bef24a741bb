"""Snapshots, preflight, the registry, and what follows from labels."""
