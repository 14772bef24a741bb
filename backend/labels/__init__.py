"""Images and what people say of them; may ask projects, and knows no model and no run."""
