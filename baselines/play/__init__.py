"""Games to be watched and played: tables, replays, the gallery, and the board in the browser."""
