"""Games between agents, and what their results say."""
