"""`llms.txt` (https://llmstxt.org): every page of the docs with its first sentence, for programs that read about us."""

import os
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PLACE = "https://github.com/toolvet/toolvet/blob/main"
HEAD = """# toolvet

> Vet every tool call of an AI agent: the arguments going in, what a server says that it validates, the result that
> comes back, the shape it comes in, and the answer that follows. A Python library, a command line, a proxy for MCP
> that needs no code changed, a store with a review queue and a dashboard, and batch runs over millions of rows.

Install: `pip install "toolvet @ git+https://github.com/toolvet/toolvet"`. Assess an MCP server: `toolvet assess -- uvx
mcp-server-time`. Put it between a client and its servers: `toolvet proxy install`. In Python: `from toolvet import
check_answer, check_arguments, check_result`.

## Docs

"""


def first_sentence(page: str) -> str:
    """The first sentence of the first paragraph that is prose, without the marks of Markdown."""
    for paragraph in page.split("\n\n")[1:]:
        words = " ".join(paragraph.split())
        if words[:3] != "```" and (words[:1].isalpha() or words[:1] in ("`", "*", "[")):
            plain = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", words).replace("**", "").replace("`", "")
            return re.split(r"(?<=[.!?:])\s", plain)[0].rstrip(":.") + "."
    return ""


def listed() -> str:
    lines = [f"- [README]({PLACE}/README.md): what it does, and how to begin"]
    for path in sorted((ROOT / "docs").glob("*.md")):
        page = path.read_text(encoding="utf-8")
        title = page.partition("\n")[0].removeprefix("# ")
        lines.append(f"- [{title}]({PLACE}/docs/{path.name}): {first_sentence(page)}".rstrip(": "))
    return HEAD + "\n".join(lines) + "\n"


def test_every_page_is_listed() -> None:
    file = ROOT / "llms.txt"
    if os.environ.get("TOOLVET_UPDATE_SNAPSHOTS"):
        file.write_text(listed(), encoding="utf-8")
    assert file.read_text(encoding="utf-8") == listed(), "TOOLVET_UPDATE_SNAPSHOTS=1 pytest tests/test_llms.py"
