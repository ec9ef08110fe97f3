"""Draws the README's recording: a real run on the server of docs/quickstart.md, as an SVG that appears as the run did.

python docs/site/recording.py docs/images/assess.svg
"""

import io
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

ROOT: Final = Path(__file__).parents[2]
COMMAND: Final = "toolvet assess -- python server.py"
WIDTH: Final = 92
"""Columns of the terminal."""
_FONTS: Final = re.compile(r"@font-face \{.*?\}", re.DOTALL)
_SERVER: Final = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def main(file: Path) -> None:
    """Run the command, and write the picture of its report down to the first fix."""
    page = (ROOT / "docs" / "quickstart.md").read_text(encoding="utf-8")
    server = _SERVER.search(page)
    if not server:
        raise SystemExit("docs/quickstart.md has no server")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "server.py").write_text(server[1], encoding="utf-8")
        began = time.monotonic()
        printed = run(folder)
        seconds = round(time.monotonic() - began)
    file.write_text(picture(until_the_second_finding(printed), seconds), encoding="utf-8")


def run(folder: str) -> str:
    """The output of the command in colour, in a terminal of our width."""
    done = subprocess.run(  # noqa: S603 - our own program
        COMMAND.split(),
        cwd=folder,
        env={
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "COLUMNS": str(WIDTH),
            "FORCE_COLOR": "1",
        },
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode != 1:
        raise SystemExit(f"no findings: {done.stderr}")
    return done.stdout


def until_the_second_finding(printed: str) -> str:
    """The report up to its first notes; the rest is more of the same."""
    head, found, _ = printed.partition("parameter-undescribed")
    if not found:
        raise SystemExit("the report has no second finding")
    return head.rsplit("\n", 1)[0].rstrip() + "\n\n…"


def picture(printed: str, seconds: int) -> str:
    """The SVG: the command at once, the report after as many seconds as it took, at most three."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text.assemble(("$ ", "dim"), (COMMAND, "bold")))
    console.print(Text.from_ansi(printed))
    drawn = _FONTS.sub("", console.export_svg(title="toolvet", unique_id="assess"))
    # A reader that does not move pictures shows the last one: everything.
    late = f'text[clip-path^="url(#assess-line-"] {{ animation: come {min(seconds, 3)}s step-end backwards; }}'
    first = 'text[clip-path="url(#assess-line-0)"] { animation: none; }'
    moves = f"@keyframes come {{ from {{ opacity: 0; }} }}\n    {late}\n    {first}\n"
    return drawn.replace("</style>", f"{moves}    </style>", 1)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
