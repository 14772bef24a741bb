"""Results in a second place."""
