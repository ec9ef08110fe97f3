# The public names of this package. `__init__.py` loads each one on first use.

from toolvet.core.portability.definition import (
    Portable as Portable,
    Proof as Proof,
    portable as portable,
)
from toolvet.core.portability.rewriting import Loss as Loss
from toolvet.core.portability.rules import (
    ModelProvider as ModelProvider,
    PortIssue as PortIssue,
    ProviderRule as ProviderRule,
    port_issues as port_issues,
    provider as provider,
    provider_names as provider_names,
    request_issues as request_issues,
)
