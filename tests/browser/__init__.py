"""The board in a real browser: `make test-browser`."""
