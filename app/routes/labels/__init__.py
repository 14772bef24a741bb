"""Images, their labels, and how both come in and go out."""
