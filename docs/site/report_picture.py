"""Takes the pictures of pages in docs/images/: real ones, looked at by Chromium.

python docs/site/report_picture.py docs/images
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
_FLAGS: Final = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-color-profile=srgb")
_ENV: Final = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
_ANSWERS: Final = (
    "The library opens at nine and closes at six on weekdays, and at one on Saturdays.",
    "Your order A-2 was sent on Monday. The parcel service expects to deliver it on Thursday.",
    "Pride and Prejudice costs 9.99 euros as a paperback, and there are four copies in the shop.",
)
_POOR: Final = ("I'm sorry, but I can't help with that.", "I am not sure, but as far as I know it may be open.")


def main(folder: Path) -> None:
    """Take all pictures."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        report = place / "report.html"
        options = ("--quiet", "--timeout", "2", "--fail-on", "never", "--report", f"html={report}")
        run("toolvet", "assess", *options, "--", "python", "examples/bookshop_server.py")
        # Down to the first tools.
        look(report.as_uri(), folder / "report.png", "1000,1010", place)
        (place / "answers.jsonl").write_text("".join(map(answer, range(9000))), encoding="utf-8")
        run("toolvet", "batch", "answers", "answers.jsonl", "verdicts.parquet", "--keep", "created", place=place)
        page = place / "batch.html"
        named = ("--time", "created", "--report", f"html={page}")
        run("toolvet", "batch", "report", "verdicts.parquet", *named, place=place)
        look(page.as_uri(), folder / "batch-report.png", "1000,1150", place)
        run("python", "examples/fill_store.py", f"{place}/demo.db")
        command = ["toolvet", "serve", "--store", f"{place}/demo.db", "--port", "0"]
        with subprocess.Popen(command, env=_ENV, stderr=subprocess.PIPE, text=True) as served:  # noqa: S603 - our own
            said = ""
            while "http://" not in said and served.stderr is not None:
                said = served.stderr.readline()
            look(said[said.index("http://") :].split("/ ")[0], folder / "dashboard.png", "1280,860", place)
            served.terminate()


def answer(number: int) -> str:
    """A row of thirty days of answers, with more that are poor on one of them."""
    day = number % 30
    poor = number // 30 % (4 if day == 20 else 16) == 0
    text = _POOR[number // 60 % 2] if poor else _ANSWERS[number // 30 % 3]
    return json.dumps({"id": f"turn-{number}", "answer": text, "created": f"2026-11-{day + 1:02}T12:00:00Z"}) + "\n"


def run(*command: str, place: Path = ROOT) -> None:
    """Run one of our programs in a folder."""
    subprocess.run(command, cwd=place, env=_ENV, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - our own program


def look(url: str, file: Path, size: str, place: Path) -> None:
    """Open a page in a browser profile of its own, and save a picture of this size."""
    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("needs Chromium (Debian: apt install chromium)")
    shot = [chromium, *_FLAGS, f"--user-data-dir={place}/profile", f"--window-size={size}", f"--screenshot={file}"]
    subprocess.run([*shot, url], check=True, capture_output=True, timeout=120)  # noqa: S603 - as above


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
