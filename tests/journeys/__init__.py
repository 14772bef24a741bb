"""People at a real browser before a served site; may look behind it through the database."""
