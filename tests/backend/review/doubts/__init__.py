"""Labels in doubt: which they are, how long they stand, and what people say of them."""
