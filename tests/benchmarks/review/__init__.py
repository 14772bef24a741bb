"""How quick a review is over many detections."""
