"""Jobs that bring pictures and labels in, take them out, check them; may ask rooms up to runs."""
