"""The games on a GPU: compiled and simulated without one, and run on a real one if there is one."""
