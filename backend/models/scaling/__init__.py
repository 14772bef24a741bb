"""Cluster benchmarks: what is measured, and the table of it; may ask trainings and the queue."""
