"""Detection as a page asks for it, and what it will take; may ask every room but review."""
