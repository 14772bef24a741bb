"""What Loupe knows and keeps; may ask neither app nor workers, no Gradio, no Ray, no torch."""
