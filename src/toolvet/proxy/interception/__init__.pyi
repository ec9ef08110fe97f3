# The public names of this package; `__init__.py` loads each one when it is first used.

from toolvet.proxy.interception.chain import (
    ChainEntry as ChainEntry,
    ChainOutcome as ChainOutcome,
    InvocationError as InvocationError,
    run_chain as run_chain,
)
from toolvet.proxy.interception.servers import Interception as Interception
from toolvet.proxy.interception.traffic import (
    Intercepted as Intercepted,
    LineGate as LineGate,
    Traffic as Traffic,
)
