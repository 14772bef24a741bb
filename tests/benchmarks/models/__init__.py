"""What a training costs, and what it brings."""
