"""The league: a round robin in separate processes, and ratings from the results."""
