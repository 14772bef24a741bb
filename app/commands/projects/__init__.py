"""Commands for projects: what there is, classes, people, champion and splits."""
