"""The table to beat: agents trained within a budget, measured in the same way, with their cards."""
