"""The commands of `loupe`, by what they are for; may ask every room, and no route."""
