"""The only part of Loupe that speaks HTTP and Gradio; may ask backend, never workers."""
