"""The examples of docs/http-api.md are run, and reply what it says."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.dashboard.serving import serving

PAGE = Path(__file__).parents[2] / "docs" / "http-api.md"
EXAMPLES = re.findall(r"```sh\n(.*?)```\n\n```json\n(.*?)```", PAGE.read_text(), re.DOTALL)


def holds(found: Any, expected: Any) -> bool:
    """Whether `found` has all that the page shows of it."""
    if isinstance(expected, dict):
        return all(name in found and holds(found[name], value) for name, value in expected.items())
    return bool(found == expected)


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_every_example_replies_what_the_page_says(tmp_path: Path) -> None:
    assert len(EXAMPLES) >= 5
    with serving(f"{tmp_path}/a.db") as running:
        for script, reply in EXAMPLES:
            env = {"URL": running.url, "PATH": "/usr/bin:/bin"}
            done = subprocess.run(["sh", "-euc", script], env=env, capture_output=True, check=True)
            # A script of several requests: the page shows the last reply.
            found = json.loads(done.stdout.decode().replace("}{", "}\n{").splitlines()[-1])
            assert holds(found, json.loads(reply)), (script, found)
