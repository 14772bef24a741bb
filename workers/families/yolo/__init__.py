"""YOLO11 by Ultralytics, its family in family.py; may ask training and weights, and no room."""
