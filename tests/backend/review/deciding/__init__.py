"""What people decide: of detections, of whole pictures, and how it is taken back."""
