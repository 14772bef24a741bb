"""Which golden fits a picture."""
