"""The public API under /api/v1, made of the table of operations; may ask those and the edge."""
