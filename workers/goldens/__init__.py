"""Which golden a picture has: by group, name or look; may ask labels, runs and the engine."""
