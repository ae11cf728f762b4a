"""Files that an earlier version wrote, which later ones must read."""
