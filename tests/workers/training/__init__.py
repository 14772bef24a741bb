"""Trainings: the loop, Ray Train, resuming, tracking."""
