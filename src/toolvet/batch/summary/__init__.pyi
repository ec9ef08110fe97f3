# What this package offers; `__init__.py` loads each name when it is first asked for.

from toolvet.batch.summary.describe import SummaryOptions as SummaryOptions, summarise as summarise
