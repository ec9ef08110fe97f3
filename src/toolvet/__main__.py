"""`python -m toolvet`, and the program `toolvet`: a daemon is asked before anything else is loaded."""

import sys


def main() -> None:
    """Run the command line and exit with its code."""
    from toolvet.agents.daemon import ask  # noqa: PLC0415 - the help of the command line needs none

    try:
        code = ask(sys.argv[1:])
    except OSError as error:
        from toolvet.cli import complain_of_output  # noqa: PLC0415 - only then

        code = complain_of_output(error)
    if code is None:
        from toolvet.cli import main as run  # noqa: PLC0415 - what a daemon saves

        run()
    sys.exit(code)


if __name__ == "__main__":
    main()
