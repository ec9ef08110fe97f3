"""Schemathesis finds nothing between the OpenAPI document and the running server."""

import subprocess
import sys
from pathlib import Path

from tests.dashboard.serving import serving

HERE = Path(__file__).parent


def test_schemathesis_finds_nothing(url: str, tmp_path: Path) -> None:
    with serving(url) as running:
        words = ["--config-file", str(HERE / "schemathesis.toml"), "run", f"{running.url}/openapi.json", "--no-color"]
        bounds = ["--phases", "fuzzing", "--max-examples", "8", "--generation-deterministic", "--workers", "1"]
        program = "import sys; from schemathesis.cli import schemathesis; sys.exit(schemathesis())"
        done = subprocess.run(
            [sys.executable, "-c", program, *words, *bounds],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=150,
        )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert "Tested: " in done.stdout
