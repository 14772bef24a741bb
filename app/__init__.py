"""The only part of Loupe that speaks HTTP and Gradio."""
