"""Write the published JSON Schema anew: `python -m tests.report.publish`."""

import json
from pathlib import Path

from toolvet import report
from toolvet.report.published import FILE


def main() -> None:
    path = Path(report.__file__).parent / FILE
    path.write_text(json.dumps(report.schema(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
