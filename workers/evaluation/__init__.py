"""What a model is worth on labelled pictures; may ask families, engine, and no room but models."""
