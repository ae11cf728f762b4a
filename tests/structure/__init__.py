"""The structure of the repository: import directions, packages, file names, citations."""
