"""The table of operations through each of its doors."""
