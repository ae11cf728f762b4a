"""Other libraries with these environments, each in a virtual environment of its own."""
