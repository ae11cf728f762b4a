"""Files, journals, processes, threads and signals: what all other parts of the baselines stand on.

Nothing here knows of games or agents, and nothing is imported from other parts of the baselines.
"""
