"""Jobs carried out by their handlers, called with a claimed job."""
