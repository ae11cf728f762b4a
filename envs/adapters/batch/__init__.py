"""Many games stepped at once on the CPU."""
