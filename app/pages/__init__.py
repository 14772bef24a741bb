"""The pages of the site, one module a tab."""
