"""Weights as files: read, written, begun from; never a pickle."""
