"""What Loupe knows and keeps: no Gradio, no Ray, no torch."""
