"""`python -m toolvet`, and the program `toolvet`: a resident is asked before anything else is loaded."""

import sys


def main() -> None:
    """Run the command line and exit with its code."""
    from toolvet.resident.client import ask  # noqa: PLC0415 - the help of the command line needs none

    code = ask(sys.argv[1:])
    if code is None:
        from toolvet.cli import main as run  # noqa: PLC0415 - what a resident saves

        run()
    sys.exit(code)


if __name__ == "__main__":
    main()
