"""Projects, their classes, the people in them, and who is logged in."""
