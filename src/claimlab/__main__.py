"""`python -m claimlab`: the command line, where the script `claimlab` is not on the path."""

from claimlab.cli.app import main

if __name__ == "__main__":
    main()
