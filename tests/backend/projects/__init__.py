"""Projects with their classes, members and people."""
