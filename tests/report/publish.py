"""Write the published JSON Schemas anew: `python -m tests.report.publish`."""

import json
from pathlib import Path

from toolvet import report
from toolvet.report import batch, overview
from toolvet.report.batch.published import BATCH_FILE, COMPARISON_FILE, batch_schema, comparison_schema
from toolvet.report.overview.published import OVERVIEW_FILE, overview_schema
from toolvet.report.published import FILE


def main() -> None:
    for package, name, schema in (
        (report, FILE, report.schema()),
        (overview, OVERVIEW_FILE, overview_schema()),
        (batch, BATCH_FILE, batch_schema()),
        (batch, COMPARISON_FILE, comparison_schema()),
    ):
        path = Path(str(package.__file__)).parent / name
        path.write_text(json.dumps(schema, indent=2, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
