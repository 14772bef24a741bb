"""Runtimes and what is prepared for them."""
