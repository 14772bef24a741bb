"""What people say of detections and pictures, as events that stay; may ask every other room."""
