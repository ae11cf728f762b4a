"""The league: games of all against all in processes of their own, and ratings from the results."""
