"""How the tables came to be, one module a step; may ask storage alone."""
