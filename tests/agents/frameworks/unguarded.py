"""How many of the fifty bad calls run the tool where no toolvet is: `python -m tests.agents.frameworks.unguarded`.

For docs/comparison.md. In the environment of `make frameworks`; a framework that is not installed is left out.
"""

import logging
import sys
from collections.abc import Sequence
from typing import Any

import pytest
from tests.agents.frameworks.test_adapters import (
    BAD,
    CALLED,
    TABLE,
    by_google_adk,
    by_langchain,
    by_openai_agents,
    by_pydantic_ai,
    name_of,
)


def ran(adapter: Any, calls: Sequence[dict[str, Any]] = BAD) -> list[dict[str, Any]]:
    """The arguments that the tool was run with."""
    CALLED.clear()
    for call in calls:
        try:
            adapter([call], None)
        except Exception as error:  # noqa: BLE001 - a framework may end a run with an error of any kind
            sys.stderr.write(f"{name_of(adapter)}: {type(error).__name__}\n")
    return list(CALLED)


def main() -> None:
    """Write a row for each framework."""
    logging.disable()
    sys.stdout.write("| framework | of 50 bad calls ran the tool | kinds |\n|---|---|---|\n")
    for adapter in (by_langchain, by_openai_agents, by_pydantic_ai, by_google_adk):
        try:
            made = ran(adapter)
        except pytest.skip.Exception:
            continue
        kinds = sorted({row["kind"] for row in TABLE if row["arguments"] in made})
        sys.stdout.write(f"| {name_of(adapter).removeprefix('by_')} | {len(made)} | {', '.join(kinds)} |\n")


if __name__ == "__main__":
    main()
