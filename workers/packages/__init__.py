"""A model that runs without Loupe: its graph, and the code around it; may ask engine and below."""
