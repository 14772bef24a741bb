"""Jobs that look at pictures with a model, and publish results; may ask rooms up to runs."""
