"""How a golden lies under a picture, and whether it fits; may ask no other part of golden."""
