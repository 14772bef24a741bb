"""Weights as files: read, written, begun from; never a pickle; may ask families, and no room."""
