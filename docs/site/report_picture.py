"""Takes the README's picture of an HTML report: a real assessment of mcp-server-git, looked at by Chromium.

python docs/site/report_picture.py docs/images/report.png
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

SERVER: Final = "mcp-server-git"
SIZE: Final = "1000,1165"
"""Pixels: the report down to its first finding."""
_FLAGS: Final = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-color-profile=srgb")


def main(file: Path) -> None:
    """Assess the server, open the report in a browser profile of its own, and keep what it shows."""
    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("needs Chromium (Debian: apt install chromium)")
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.html"
        command = ["toolvet", "assess", "--quiet", "--report", f"html={report}", "--", SERVER]
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        subprocess.run(command, cwd=folder, env={**os.environ, "PATH": path}, check=True)  # noqa: S603 - our own program
        shot = [chromium, *_FLAGS, f"--user-data-dir={folder}/profile", f"--window-size={SIZE}", f"--screenshot={file}"]
        subprocess.run([*shot, report.as_uri()], check=True, capture_output=True, timeout=120)  # noqa: S603 - as above


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
