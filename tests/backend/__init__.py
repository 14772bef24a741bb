"""The rooms of backend and what serves them, on real databases; may ask backend alone."""
