"""What the JavaScript calls; may ask every room and the edge, and does no long work."""
