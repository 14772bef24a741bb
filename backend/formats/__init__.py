"""Label formats, each a reader and a writer; FORMATS in registry.py has one row each."""
