"""Pages as PDF, laid out from our own HTML without a browser; may ask nothing else of Loupe."""
