"""Images, their labels, how both come in and go out; may ask every room."""
