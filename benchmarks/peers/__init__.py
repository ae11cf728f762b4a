"""Other libraries, measured beside ours in one run; each script runs in its own environment.

A step means different work in each peer. So every row says in `includes` what it measures, and in
`beside` which figure of ours measures the most similar work:

- `aec raw_env`, `aec env`: one game, driven from Python, with observation and mask.
- `bare`: random play in compiled code, without observations.
- `batch step`: a step of a batch, with observations, masks and autoreset; actions drawn beforehand.
- `batch loop`: the same, timed together with the random choice of a legal action.

Scripts print one JSON object per line. They import nothing of ours but `script.py`, by its path.
"""
