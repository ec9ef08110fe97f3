"""Schemathesis finds nothing between the OpenAPI document and the running server, on SQLite and on PostgreSQL.

`make schemathesis` draws more requests for each operation, other ones each time.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.server.dashboard.serving import serving

from toolvet import check_answer

HERE = Path(__file__).parent
EXAMPLES = os.environ.get("TOOLVET_SCHEMATHESIS_EXAMPLES", "")


@pytest.mark.timeout(int(EXAMPLES or 8) * 60)
def test_schemathesis_finds_nothing(url: str, tmp_path: Path) -> None:
    with serving(url) as running:
        # Something for the queue, so that its endpoints have work to do.
        for number in range(30):
            said = f"I cannot help with order {number}."
            running.site.store.add(check_answer(said), text=said, trace=f"turn-{number}")
        running.site.store.flush()
        words = ["--config-file", str(HERE / "schemathesis.toml"), "run", f"{running.url}/openapi.json", "--no-color"]
        bounds = ["--phases", "fuzzing", "--max-examples", EXAMPLES or "8", "--workers", "1"]
        # The same requests each time, unless more are wanted.
        repeated = [] if EXAMPLES else ["--generation-deterministic"]
        program = "import sys; from schemathesis.cli import schemathesis; sys.exit(schemathesis())"
        done = subprocess.run(
            [sys.executable, "-c", program, *words, *bounds, *repeated],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert "Tested: " in done.stdout
