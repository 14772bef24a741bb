"""The commands of `loupe`, by what they are for."""
