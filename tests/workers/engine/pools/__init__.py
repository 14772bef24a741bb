"""Processes and Ray's actors that look at chunks, die and are replaced."""
