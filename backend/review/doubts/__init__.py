"""Labels that are likely wrong: found, shown, mended or let be; may ask what review may ask."""
