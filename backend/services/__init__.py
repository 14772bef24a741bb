"""What a page or a command asks for."""
