# What this package offers; `__init__.py` loads each name when it is first asked for.

from toolvet.batch.summary.folding import summarise as summarise
from toolvet.batch.summary.options import SummaryOptions as SummaryOptions
