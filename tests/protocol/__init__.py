"""The table to beat: tracks, cells, scores, cards."""
