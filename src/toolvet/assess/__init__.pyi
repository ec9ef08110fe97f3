# The public names of this package; `__init__.py` loads each one when it is first used.

from toolvet.assess.assemble import (
    beside as beside,
    server_status as server_status,
    tool_status as tool_status,
)
from toolvet.assess.assessing import assess as assess
from toolvet.assess.given import (
    GivenOptions as GivenOptions,
    first_given as first_given,
    read_options as read_options,
)
from toolvet.assess.options import Options as Options
from toolvet.assess.report.document import Report as Report
from toolvet.assess.run import (
    Silent as Silent,
    Watch as Watch,
)
