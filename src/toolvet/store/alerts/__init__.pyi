# What this package offers; `__init__.py` loads each name when it is first asked for.

from toolvet.store.alerts.rule import (
    AlertMeasure as AlertMeasure,
    AlertRule as AlertRule,
    check_webhook as check_webhook,
)
from toolvet.store.alerts.state import (
    AlertState as AlertState,
    MeasuredSums as MeasuredSums,
    measured as measured,
    next_state as next_state,
    sentence as sentence,
)
