"""Benchmarks of the warehouse."""
