"""What a model is worth on labelled pictures, the same for every family."""
