# The public names of this package; `__init__.py` loads each one when it is first used.

from toolvet.batch.summary.describe import SummaryOptions as SummaryOptions, summarise as summarise
