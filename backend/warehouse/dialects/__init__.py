"""How each kind of warehouse is written; may ask the warehouse's tables and its address alone."""
