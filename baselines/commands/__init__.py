"""The commands of `azumaya`, a module each, and `app`, the program that they make up.

They need the extra `cli`. All these modules are imported whenever any command runs, so each imports
what it needs only when its own does. `azumaya.baselines.cli` starts the program.
"""
