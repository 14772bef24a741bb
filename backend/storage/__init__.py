"""Where everything is kept: databases and files; may ask settings, nouns and errors alone."""
