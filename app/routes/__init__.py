"""What the JavaScript calls."""
