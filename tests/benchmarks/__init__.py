"""Speed and worth, measured by hand as ratios in one run; may ask everything, no test asks them."""
