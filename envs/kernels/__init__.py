"""Tools for kernels: compilation and its cache, bits, rows of words, random numbers."""
