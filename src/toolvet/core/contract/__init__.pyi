# The public names of this package. `__init__.py` loads each one on first use.

from toolvet.core.contract.comparing import (
    ContractChange as ContractChange,
    compare_locks as compare_locks,
)
from toolvet.core.contract.lock import (
    Lock as Lock,
    lock_of as lock_of,
    read_lock as read_lock,
    write_lock as write_lock,
)
from toolvet.core.contract.proposing import (
    SchemaProposal as SchemaProposal,
    propose_for_parts as propose_for_parts,
    propose_schema as propose_schema,
)
