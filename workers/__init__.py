"""The only part of Loupe that speaks Ray and torch."""
