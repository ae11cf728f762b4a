"""The board in the browser: `azumaya serve`."""
