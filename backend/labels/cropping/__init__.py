"""Boxes cut out as pictures of a project of their own, and back; may ask labels and projects."""
