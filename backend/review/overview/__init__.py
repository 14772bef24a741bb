"""What a project is like: boards added up by lot, day, class and place; may ask all of review."""
