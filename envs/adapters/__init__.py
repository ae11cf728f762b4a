"""The games as environments of other libraries; every adapter is written once, for all games."""
