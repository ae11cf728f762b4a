"""What makes kernels: compiling, the cache on disk, bits, rows of words, randomness."""
