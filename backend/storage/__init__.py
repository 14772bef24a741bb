"""Where everything is kept: databases and files."""
