"""Which golden a picture has: by group, by name, or by look."""
