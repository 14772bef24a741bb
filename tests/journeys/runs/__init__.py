"""Journeys through Train, Detect and Jobs: work asked for, followed and shown."""
