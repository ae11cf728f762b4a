"""Games with language models."""
