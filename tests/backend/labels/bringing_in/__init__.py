"""Imports: sources as people have them, goldens, masks, kills in the middle."""
