"""The server of `azumaya serve`, replays, and the board's data."""
