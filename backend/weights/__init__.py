"""Files of weights, told without torch: their header, and those to begin with; may ask settings."""
