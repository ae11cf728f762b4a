"""Random small faults in the library, to see whether the suite finds them."""
