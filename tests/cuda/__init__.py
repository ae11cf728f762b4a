"""The games on a CUDA device: compiled without one, simulated, and on a real one where it is."""
