"""What classes are called and counted: ids in rows, names to people; may ask storage alone."""
