"""toolvet's checks as interceptors (SEP-2624), under the policies of the proxy, for `toolvet intercept`.

toolvet/definitions    validation of tools/list results: texts that steer the model; the others learn the tools here
toolvet/repair         mutation of tools/call requests: arguments that break the schema get their sure repair
toolvet/arguments      validation of tools/call requests against the inputSchema
toolvet/result         validation of tools/call results: unflagged errors, broken promises, steering texts
toolvet/answer         validation of llm/completion results: the answer of a model
toolvet/redact         mutation of tools/call requests and results: secrets in texts (only on request)
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from toolvet.core.checks import Correction, Message, MessageSeverity, ValidationReply, check_arguments
from toolvet.core.json_value import elements, is_array, is_object, members, pointer_steps
from toolvet.core.poison import result_steering
from toolvet.core.redact import redact_text
from toolvet.core.turn import check_answer
from toolvet.mcp.interceptors import Handler, Hook, Interceptor, InterceptorServer, Invocation, MutatorResult, Phase
from toolvet.proxy.session import Catalogue, KnownTool, Policies, Policy, describe_steering, validation_reply
from toolvet.version import __version__

_CALL: Final = "tools/call"
_LIST: Final = "tools/list"
_RANKS: Final = {"high": 2, "medium": 1, "low": 0}
_MOST_SESSIONS: Final = 1000
_VALID: Final = ValidationReply(valid=True)


class OwnInterceptors:
    """The checks of toolvet as interceptors of one server.

    Args:
        policies: The checks to make, and the findings that block. A check that only warns in the proxy warns here.
        tools: Definitions that are known from the start. Others are learned from tools/list.
    """

    def __init__(self, policies: Policies, tools: Iterable[Mapping[str, object]] = ()) -> None:
        self._policies = policies
        self._given = tuple(tools)
        # By session, because servers and their tools differ.
        self._catalogues = OrderedDict[str, Catalogue]()

    def server(self, *, redacts: bool = False) -> InterceptorServer:
        """Return a server of these interceptors. `redacts` adds `toolvet/redact`."""
        hosted: list[tuple[Interceptor, Handler]] = [
            (_interceptor("definitions", "Steering texts in tool definitions", (_LIST, "response")), self.definitions),
            (_interceptor("repair", "Sure repairs of arguments", (_CALL, "request"), changes=True), self.repair),
            (_interceptor("arguments", "Arguments against the inputSchema", (_CALL, "request")), self.arguments),
            (_interceptor("result", "Failures reported as success", (_CALL, "response")), self.result),
            (_interceptor("answer", "Answers of a model", ("llm/completion", "response")), self.answer),
        ]
        if redacts:
            both: tuple[tuple[str, Phase], ...] = ((_CALL, "request"), (_CALL, "response"))
            hosted.append((_interceptor("redact", "Secrets in texts", *both, changes=True), self.redact))
        return InterceptorServer(hosted, "toolvet intercept")

    def definitions(self, call: Invocation) -> ValidationReply:
        """Learn the listed tools, and report texts that steer the model."""
        # The cursor is the request's, which a response does not show: every page adds to the tools.
        self._catalogue(call).learn("", call.payload)
        said: list[str] = []
        severity: MessageSeverity = "warn"
        for definition in map(members, elements(members(call.payload).get("tools"))):
            steering = self._policies.of(str(definition.get("name"))).steering
            words = "" if steering == "off" else describe_steering(definition)
            if words:
                said.append(f"'{definition.get('name')}' {words}")
                severity = "error" if steering == "hold" else severity
        return _reply(said, severity)

    def arguments(self, call: Invocation) -> ValidationReply:
        """Check the arguments of a call. A tool that is not known passes, with a message that says so."""
        tool, policy, arguments = self._called(call)
        if policy.arguments == "off":
            return _VALID
        if tool is None:
            return ValidationReply(
                valid=True, messages=(Message("The tool is not known, so nothing was checked.", "info"),)
            )
        reply = validation_reply(tool.name, check_arguments(tool.handle, arguments, unchecked="pass"), arguments)
        if policy.arguments == "audit" and not reply.valid:
            return _reply([each.message for each in reply.messages if each.severity == "error"], "warn")
        root = "arguments" if call.params is call.payload else "params.arguments"
        return ValidationReply(
            valid=reply.valid,
            messages=tuple(Message(each.message, each.severity, _dotted(root, each.path)) for each in reply.messages),
            corrections=tuple(Correction(_dotted(root, each.path), each.value) for each in reply.corrections),
        )

    def repair(self, call: Invocation) -> MutatorResult:
        """Apply the repair of arguments that break the schema, if it is as sure as the policy wants."""
        tool, policy, arguments = self._called(call)
        if tool is not None and policy.repair != "off" and not tool.schema.is_valid(arguments):
            repair = check_arguments(tool.handle, arguments, unchecked="pass").repair
            if repair is not None and _RANKS[repair.confidence] >= _RANKS[policy.repair_from]:
                return MutatorResult(
                    modified=True, payload=call.with_params({**call.params, "arguments": repair.arguments})
                )
        return MutatorResult(modified=False, payload=call.payload)

    def result(self, call: Invocation) -> ValidationReply:
        """Report errors without a flag and texts that steer the model. The call itself is not part of the payload."""
        policy = self._policies.of("")
        said: list[str] = []
        severity: MessageSeverity = "warn"
        if policy.results != "off":
            verdict = self._policies.check({"name": ""}, {}, call.payload, shape="mcp_json")
            said += () if verdict.is_error or (verdict.is_valid and not verdict.error_without_flag) else verdict.issues
            severity = "error" if said and policy.results == "enforce" else severity
        if policy.steering != "off" and (steering := result_steering(call.payload)):
            said.append(f"a text {steering[0].says}")
            severity = "error" if policy.steering == "hold" else severity
        return _reply(said, severity)

    def answer(self, call: Invocation) -> ValidationReply:
        """Report what is wrong with the answer of a model. The format of the payload is not fixed yet."""
        payload = members(call.payload)
        choices = [members(each).get("message") for each in elements(payload.get("choices"))]
        content = members(next(iter(choices), payload.get("message", payload))).get("content")
        blocks = [members(each).get("text") for each in elements(content)]
        text = content if isinstance(content, str) else "".join(each for each in blocks if isinstance(each, str))
        quality = check_answer(text) if text else None
        return _reply(
            []
            if quality is None or not quality.should_escalate
            else dict.fromkeys(each.evidence for each in quality.signals),
            "warn",
        )

    def redact(self, call: Invocation) -> MutatorResult:
        """Replace what looks like a secret in the texts of a payload."""
        made = _mapped(call.payload, redact_text)
        return MutatorResult(modified=made != call.payload, payload=made)

    def _called(self, call: Invocation) -> tuple[KnownTool | None, Policy, object]:
        name = call.params.get("name")
        name = name if isinstance(name, str) else ""
        return self._catalogue(call).tools.get(name), self._policies.of(name), call.params.get("arguments", {})

    def _catalogue(self, call: Invocation) -> Catalogue:
        session = str(call.context.get("sessionId", ""))
        found = self._catalogues.get(session)
        if found is None:
            found = self._catalogues[session] = Catalogue()
            found.learn(None, {"tools": list(self._given)})
            if len(self._catalogues) > _MOST_SESSIONS:
                self._catalogues.popitem(last=False)
        self._catalogues.move_to_end(session)
        return found


def _interceptor(name: str, description: str, *hooks: tuple[str, Phase], changes: bool = False) -> Interceptor:
    return Interceptor(
        name=f"toolvet/{name}",
        version=__version__,
        description=description,
        type="mutation" if changes else "validation",
        hooks=tuple(Hook((event,), phase) for event, phase in hooks),
    )


def _reply(said: Iterable[str], severity: MessageSeverity) -> ValidationReply:
    messages = tuple(Message(text, severity) for text in said)
    return ValidationReply(valid=not messages or severity != "error", messages=messages)


def _dotted(root: str, pointer: str) -> str:
    """Return a JSON Pointer into the arguments in the notation of the draft: `params.arguments.location`."""
    return ".".join((root, *pointer_steps(pointer))) if pointer else ""


def _mapped(value: object, change: Callable[[str], str]) -> object:
    """Return a JSON value with all its texts changed; keys stay."""
    if isinstance(value, str):
        return change(value)
    if is_object(value):
        return {key: _mapped(each, change) for key, each in value.items()}
    return [_mapped(each, change) for each in value] if is_array(value) else value
