"""The commands of `azumaya`, a module each, and `app`, the program that they make up.

They need the extra `cli`. All these modules are imported whenever any command runs, so packages of
other extras, and what is slow to import, are imported by the functions that need them.
`azumaya.baselines.cli` starts the program.
"""
