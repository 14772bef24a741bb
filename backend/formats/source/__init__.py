"""What a source is made of: folders, archives, tables and JSON, read within bounds."""
