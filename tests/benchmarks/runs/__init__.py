"""How fast runs go, what their boxes are worth, and what kills leave of them."""
