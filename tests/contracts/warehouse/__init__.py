"""What is published, held against every kind of warehouse."""
