"""How quick pictures come in, and how quick the hand is that labels them."""
