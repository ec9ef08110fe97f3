"""Many verdicts at a glance: what a batch came to, and what changed between two batches.

`document` has the formats `toolvet-batch/1` and `toolvet-batch-comparison/1`; `page` and `terminal` show them.
"""

from toolvet.assess.report.batch.document import BatchReport, ComparisonReport

__all__ = ["BatchReport", "ComparisonReport"]
