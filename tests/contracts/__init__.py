"""What every row of a table must do, be it a format, a family, a kind or a figure."""
