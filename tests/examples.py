"""How many examples a property test draws."""

from hypothesis import settings

_USUAL = 100


def examples(number: int) -> settings:
    """`number` of them in the suite, where 100 are usual; under `make fuzz` as many times more as all others."""
    return settings(max_examples=number * settings().max_examples // _USUAL)
