"""`python -m ammi` is the command `ammi`."""

from ammi.cli import main

if __name__ == "__main__":
    main()
