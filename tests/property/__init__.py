"""Properties of texts, random numbers, bitboards, rows and symmetries, most with hypothesis."""
