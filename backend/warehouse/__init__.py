"""Results in a second place, for analysts; may ask storage and the nouns, and no room."""
