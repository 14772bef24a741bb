"""The families of models, on drawn pictures."""
