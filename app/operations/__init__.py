"""What programs may ask of Loupe, as one table: every door to it is made of its rows."""
