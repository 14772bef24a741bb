"""Layouts that are known and not read: told by their signs, said with what to do."""
