"""Projects, their classes and people, and choices of images; may ask jobs and storage."""
