"""Training scripts: laws of all of them, folders, saves, each algorithm."""
