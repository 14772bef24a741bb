"""The steps, never rewritten once they have landed; each may ask the tables alone."""
