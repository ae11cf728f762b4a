"""The games as environments of other libraries; each adapter is written once, for all games."""
