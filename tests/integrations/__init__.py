"""Examples of other libraries with our environments, each in its own virtual environment."""
