"""Searches: trial after trial, whatever is killed; may ask families, evaluation and models."""
