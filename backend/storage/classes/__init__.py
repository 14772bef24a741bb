"""What classes are called, remembered and counted: ids in rows, names to people."""
