"""The tests: the folders of the house again, and what holds for all of it; may ask everything."""
