"""Tests of searches: trials whose worth is known beforehand, and real families."""
