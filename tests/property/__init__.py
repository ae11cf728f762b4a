"""Properties of parsers, texts, random numbers and bit boards, with hypothesis."""
