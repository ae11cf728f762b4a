"""How the house is built: import directions, packages, modules, file names."""
