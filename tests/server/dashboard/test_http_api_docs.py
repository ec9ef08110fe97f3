"""The examples of docs/http-api.md are run, and reply what it says."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.server.dashboard.serving import serving

from toolvet.server.access.gate import Throttle

PAGE = Path(__file__).parents[3] / "docs" / "http-api.md"
EXAMPLE = re.compile(r"```sh\n(.*?)```\n\n```json\n(.*?)```", re.DOTALL)
EXAMPLES = EXAMPLE.findall(PAGE.read_text())


def holds(found: Any, expected: Any) -> bool:
    """Whether `found` has all that the page shows of it."""
    if isinstance(expected, dict):
        return all(name in found and holds(found[name], value) for name, value in expected.items())
    return bool(found == expected)


def last_reply(script: str, url: str) -> Any:
    """The output of a script of the page; of several requests, the last reply."""
    env = {"URL": url, "PATH": "/usr/bin:/bin"}
    done = subprocess.run(["sh", "-euc", script], env=env, capture_output=True, check=True)
    return json.loads(done.stdout.decode().replace("}{", "}\n{").splitlines()[-1])


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_every_example_replies_what_the_page_says(tmp_path: Path) -> None:
    assert len(EXAMPLES) >= 9
    # The clock of the throttle stands still; one example is about it, and needs a server of its own.
    limited = Throttle(1, 20, clock=lambda: 0.0)
    with serving(f"{tmp_path}/a.db") as running, serving(f"{tmp_path}/b.db", requests=limited) as slow:
        for script, reply in EXAMPLES:
            found = last_reply(script, slow.url if "seq" in script else running.url)
            assert holds(found, json.loads(reply)), (script, found)
