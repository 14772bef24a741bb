"""Runs to review, what was decided of them, and runs as files; may ask every room."""
