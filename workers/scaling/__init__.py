"""Cluster benchmarks: the same work over more and more processes; may ask evaluation and engine."""
