"""Journeys through Review, and what leaves the browser."""
