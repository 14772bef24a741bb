"""What the golden board is worth on real boards, and what it costs."""
