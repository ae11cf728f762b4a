"""`python -m azumaya COMMAND ...`: the command `azumaya`, where its script is not on the path."""

from azumaya.baselines.cli import main

if __name__ == "__main__":
    main()
