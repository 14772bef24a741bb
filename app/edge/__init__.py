"""What each request passes before a route sees it, and what each answer passes on its way out."""
