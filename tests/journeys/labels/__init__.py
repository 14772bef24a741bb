"""Journeys through Annotate and Browse."""
