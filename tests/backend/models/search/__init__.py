"""What is tried of a search, what ends early, and what is shown of many trials."""
