"""Backup and restore, checks, removal, litter."""
