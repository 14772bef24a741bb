"""The golden board: laying, differences, types, forest, fusion."""
