"""Journeys through Projects, classes and accounts."""
