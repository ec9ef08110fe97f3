"""Write the published JSON Schema of the envelope again: `python -m tests.core.envelope.publish`."""

import json
from pathlib import Path

from toolvet.core import envelope
from toolvet.core.envelope.contract.table import SCHEMA_FILE, envelope_schema


def document() -> str:
    return json.dumps(envelope_schema(), indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    (Path(envelope.__file__).parent / SCHEMA_FILE).write_text(document(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
