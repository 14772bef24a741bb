"""The commands of `loupe`, as a terminal calls them."""
