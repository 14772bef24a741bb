"""The overview: what it says, and what is kept of runs so that it is said at once."""
