"""Many games stepped at once on a GPU."""
