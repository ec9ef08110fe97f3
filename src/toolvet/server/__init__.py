"""Shows a store to people and programs: the dashboard, the review queue and the HTTP API.

    dashboard     pages, the HTTP API (`api`) and alerts over one store
    review        what people should look at, what they can say, and what is learned from it
    guardrails    other products (LiteLLM, Claude Code and others) ask for a verdict over HTTP
    scores        verdicts sent to Langfuse, Opik, Phoenix or any OTLP collector
    access        who may ask: tokens, roles, logins with an identity provider
    reviewing     the review queue as the API, the pages and the command line use it
    failures      every failure as one form of response; context: what a running server knows
    settings      the sections `[serve]` and `[review]` of a settings file

    toolvet serve --store verdicts.db      # http://127.0.0.1:8741

Start reading at `dashboard/app.py`.
"""
