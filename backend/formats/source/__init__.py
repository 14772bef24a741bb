"""What a source is made of: folders, archives, tables, JSON; may ask files alone, within bounds."""
