# The public names of this package; `__init__.py` loads each one when it is first used.

from toolvet.proxy.session.catalogue import (
    Catalogue as Catalogue,
    KnownTool as KnownTool,
)
from toolvet.proxy.session.judge import (
    Contract as Contract,
    wanted_contract as wanted_contract,
)
from toolvet.proxy.session.own_tools import validation_reply as validation_reply
from toolvet.proxy.session.policy import (
    InterceptorSettings as InterceptorSettings,
    Policies as Policies,
    Policy as Policy,
    PolicyLine as PolicyLine,
    ProxySettings as ProxySettings,
    ToolSettings as ToolSettings,
    is_fit as is_fit,
)
from toolvet.proxy.session.session import Session as Session
from toolvet.proxy.session.step import (
    Asked as Asked,
    CallEnded as CallEnded,
    CallStarted as CallStarted,
    FaultKind as FaultKind,
    Note as Note,
    PolicyFault as PolicyFault,
    SchemaForgotten as SchemaForgotten,
    SchemaLearned as SchemaLearned,
    Step as Step,
    ToClient as ToClient,
    ToServer as ToServer,
)
from toolvet.proxy.session.trace import (
    TRACE_KEY as TRACE_KEY,
    TRACE_PARENT as TRACE_PARENT,
    TraceSource as TraceSource,
)
from toolvet.proxy.session.unread import CallWatch as CallWatch
from toolvet.proxy.session.vetted import describe_steering as describe_steering
