"""A client is installed by the first test that needs it, some hundred megabytes each."""

from pathlib import Path

import pytest

_SECONDS = 1_200


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the tests of this folder the time that an installation may take."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(_SECONDS))
