"""Models that follow a script, one for each framework: they make the calls in turn, and keep what they read of each.

Then they say what `ends` has, the first of them first: more than one is needed only by who is asked again.
"""

import json
from collections.abc import Sequence
from typing import Any

import pytest

Call = tuple[str, dict[str, Any]]


def pydantic_ai_model(calls: Sequence[Call], answers: list[str], ends: Sequence[str] = ("done",)) -> Any:
    pytest.importorskip("pydantic_ai", reason="needs Pydantic AI: pip install pydantic-ai-slim")
    last = iter(ends)
    from pydantic_ai.messages import ModelResponse, RetryPromptPart, TextPart, ToolCallPart, ToolReturnPart  # noqa: PLC0415
    from pydantic_ai.models.function import FunctionModel  # noqa: PLC0415

    def model(messages: Any, _: Any) -> ModelResponse:
        parts = messages[-1].parts
        answers.extend(str(part.content) for part in parts if isinstance(part, RetryPromptPart | ToolReturnPart))
        if len(answers) == len(calls):
            return ModelResponse(parts=[TextPart(next(last))])
        name, arguments = calls[len(answers)]
        return ModelResponse(parts=[ToolCallPart(name, arguments, tool_call_id=f"c{len(answers)}")])

    return FunctionModel(model)


def openai_agents_model(calls: Sequence[Call], answers: list[str], ends: Sequence[str] = ("done",)) -> Any:
    pytest.importorskip("agents", reason="needs the OpenAI Agents SDK: pip install openai-agents")
    last = iter(ends)
    from agents.items import ModelResponse  # noqa: PLC0415
    from agents.models.interface import Model  # noqa: PLC0415
    from agents.usage import Usage  # noqa: PLC0415
    from openai.types.responses import (  # noqa: PLC0415
        ResponseFunctionToolCall,
        ResponseOutputMessage,
        ResponseOutputText,
    )

    class Scripted(Model):
        async def get_response(self, system_instructions: Any, input: Any, *args: Any, **more: Any) -> ModelResponse:  # noqa: A002
            del system_instructions, args, more
            answers[:] = [each["output"] for each in input if each.get("type") == "function_call_output"]
            number = len(answers)
            if number == len(calls):
                text = ResponseOutputText(text=next(last), type="output_text", annotations=[])
                said: Any = ResponseOutputMessage(
                    id="m", content=[text], role="assistant", status="completed", type="message"
                )
            else:
                name, arguments = calls[number]
                said = ResponseFunctionToolCall(
                    arguments=json.dumps(arguments), call_id=f"c{number}", name=name, type="function_call"
                )
            return ModelResponse(output=[said], usage=Usage(), response_id=None)

        def stream_response(self, *args: Any, **more: Any) -> Any:
            raise NotImplementedError

    return Scripted()


def langchain_model(calls: Sequence[Call], answers: list[str], ends: Sequence[str] = ("done",)) -> Any:
    pytest.importorskip("langchain.agents", reason="needs LangChain: make frameworks")
    last = iter(ends)
    from langchain_core.language_models.chat_models import BaseChatModel  # noqa: PLC0415
    from langchain_core.messages import AIMessage, ToolMessage  # noqa: PLC0415
    from langchain_core.outputs import ChatGeneration, ChatResult  # noqa: PLC0415

    class Scripted(BaseChatModel):
        @property
        def _llm_type(self) -> str:
            return "scripted"

        def bind_tools(self, tools: Any, **more: Any) -> Any:
            del tools, more
            return self

        def _generate(self, messages: Any, *args: Any, **more: Any) -> ChatResult:
            del args, more
            answers[:] = [str(each.text) for each in messages if isinstance(each, ToolMessage)]
            number = len(answers)
            if number == len(calls):
                return ChatResult(generations=[ChatGeneration(message=AIMessage(next(last)))])
            name, arguments = calls[number]
            message = AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"c{number}"}])
            return ChatResult(generations=[ChatGeneration(message=message)])

    return Scripted()


def google_adk_model(calls: Sequence[Call], answers: list[str], ends: Sequence[str] = ("done",)) -> Any:
    pytest.importorskip("google.adk", reason="needs Google's Agent Development Kit: make frameworks")
    last = iter(ends)
    from google.adk.models import BaseLlm, LlmResponse  # noqa: PLC0415
    from google.genai import types  # noqa: PLC0415

    class Scripted(BaseLlm):
        async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:  # noqa: FBT001, FBT002
            del stream
            parts = [part for content in llm_request.contents for part in content.parts or ()]
            found = [part.function_response.response for part in parts if part.function_response]
            answers[:] = [str(each.get("error", each.get("result"))) for each in found]
            number = len(answers)
            if number == len(calls):
                part = types.Part.from_text(text=next(last))
            else:
                part = types.Part.from_function_call(name=calls[number][0], args=calls[number][1])
            yield LlmResponse(content=types.Content(role="model", parts=[part]))

    return Scripted(model="scripted")
