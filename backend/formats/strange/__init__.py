"""Layouts that are known and not read, told by their signs; may ask the source alone."""
