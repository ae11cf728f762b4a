"""The test suite; `README.md` beside this file says what each folder is for."""
