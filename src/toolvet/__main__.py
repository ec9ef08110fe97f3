"""`python -m toolvet`."""

from toolvet.cli import main

if __name__ == "__main__":
    main()
