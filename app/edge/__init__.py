"""What each request and answer passes around a route; may ask projects and storage alone."""
