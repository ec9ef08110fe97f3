"""How many examples a property test draws."""

from hypothesis import settings

_USUAL = 100


def examples(number: int) -> settings:
    """`number` of them in `make test-full`, where 100 are usual; elsewhere as many times more or less as all others."""
    return settings(max_examples=max(1, number * settings().max_examples // _USUAL))
