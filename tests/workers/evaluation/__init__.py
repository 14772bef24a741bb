"""What a model is worth: average precision, intervals, comparisons."""
