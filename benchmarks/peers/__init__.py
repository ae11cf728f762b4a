"""Other libraries, measured beside ours in one run; each script runs in an environment of its own.

A step means different work in each peer, so every row has `includes`, and `beside` names our figure
that does the most similar work:

- `aec raw_env`, `aec env`: one game, driven from Python, with observation and mask.
- `bare`: random play in compiled code, without observations.
- `batch step`: a step of a batch, with observations, masks and autoreset; actions drawn before.
- `batch loop`: the same with the random legal choice in the time.

Scripts print one JSON object a line and import nothing of ours but `script.py`, by its path.
"""
