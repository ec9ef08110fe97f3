"""Labelled data beside the project: real schemas, answers and servers.

Tests that read them have `@pytest.mark.labelled` and skip where the folder is missing (conftest.py);
`pytest -m labelled` runs them alone.
"""

from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "shared"
DATA = FOLDER / "data"
CASES = FOLDER / "cases"
SERVERS = FOLDER / "servers"
