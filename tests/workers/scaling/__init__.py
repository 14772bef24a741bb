"""Cluster benchmarks: over made-up devices, and over real processes of a tiny network."""
