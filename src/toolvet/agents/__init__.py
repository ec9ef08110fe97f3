"""Puts the checks into programs that run agents or serve tools.

    hook           an event of a coding agent (Claude Code, Codex, Gemini CLI, Copilot CLI) → its answer
    frameworks     middleware for LangChain, the OpenAI Agents SDK, Pydantic AI, Google's ADK, LiteLLM, ContextForge
    integrations   the validation capability, envelopes and the proxy's checks in a FastMCP or official SDK server
    daemon         a process that stays, so that a hook answers in 15 ms
    settings       the section `[hook]` of a settings file

    from toolvet.agents.frameworks.langchain import ToolvetMiddleware
    agent = create_agent(model, tools, middleware=[ToolvetMiddleware()])

Start reading at `hook/run.py`, or at `frameworks/guard.py`, which all adapters use.
"""
