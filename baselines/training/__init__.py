"""Training scripts, each a single file that runs by itself."""
