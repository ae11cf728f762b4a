"""The games on a GPU: compiled and emulated without one, and run on a real one if there is one."""
