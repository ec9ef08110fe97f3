"""Write the published JSON Schemas again: `python -m tests.assess.report.publish`."""

import json
from pathlib import Path

from toolvet.assess import report
from toolvet.assess.report import batch, overview
from toolvet.assess.report.batch.document import BATCH_FILE, COMPARISON_FILE, batch_schema, comparison_schema
from toolvet.assess.report.document import SCHEMA_FILE
from toolvet.assess.report.overview import OVERVIEW_FILE, overview_schema


def main() -> None:
    for package, name, schema in (
        (report, SCHEMA_FILE, report.schema()),
        (overview, OVERVIEW_FILE, overview_schema()),
        (batch, BATCH_FILE, batch_schema()),
        (batch, COMPARISON_FILE, comparison_schema()),
    ):
        path = Path(str(package.__file__)).parent / name
        path.write_text(json.dumps(schema, indent=2, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
