"""Label formats: what is read, written, recognised, and said of bad files."""
