"""A home kept whole: backup, checks, removal, litter; may ask every room."""
