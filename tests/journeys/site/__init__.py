"""Journeys over every page, and through the whole loop."""
