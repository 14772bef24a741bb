"""What people decide of what was found; may ask every other room."""
