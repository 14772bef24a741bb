"""Commands for projects, classes, people, champion and splits; may ask rooms up to runs."""
