"""Weights as files: read, renamed, refused, published."""
