"""Coverage-guided fuzzing of what promises never to raise: the properties of all public functions, all their options.

`make fuzz` runs it for a minute; more with arguments, and with a folder that keeps what reached new code:

    python fuzz/checks.py -max_total_time=600 corpus/

The first byte of an input chooses the property of `tests/test_totality.py`, the rest is what Hypothesis draws from.
Needs atheris (Linux, CPython). Any exception ends it and leaves the input in a crash-… file.
"""

import sys
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parents[1]))
with atheris.instrument_imports(include=["toolvet"]):
    from tests import test_totality

    from toolvet.checks.capability import announcement, parse_reply
    from toolvet.wire import parse, without_half_characters

from hypothesis import given, settings

settings.register_profile("checks", deadline=None, database=None)
settings.load_profile("checks")


@given(test_totality.ANY)
def capability(value: object) -> None:
    """What a server announces, and its reply to a validation."""
    announcement(value)
    parse_reply(value)


PROPERTIES = [
    capability.hypothesis.fuzz_one_input,
    *(
        found.hypothesis.fuzz_one_input
        for name, found in sorted(vars(test_totality).items())
        if name.startswith("test_") and hasattr(found, "hypothesis")
    ),
]


def one(raw: bytes) -> None:
    """One input through one property, and through the reader of messages."""
    parse(raw)
    without_half_characters(raw)
    if raw:
        PROPERTIES[raw[0] % len(PROPERTIES)](raw[1:])


if __name__ == "__main__":
    atheris.Setup([sys.argv[0], *(sys.argv[1:] or ["-max_total_time=60"])], one)
    atheris.Fuzz()
