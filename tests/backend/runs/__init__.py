"""Runs as they are asked for, foreseen, proposed from and compared."""
