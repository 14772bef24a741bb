"""The family `yolo`: YOLO11 by Ultralytics; the family itself is in family.py."""
