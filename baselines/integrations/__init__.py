"""Training with other libraries' algorithms, one script each."""
