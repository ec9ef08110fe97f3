"""A server in, a report out: call every tool, and judge the definitions and the answers.

    >>> import asyncio
    >>> from toolvet.assess import Options, assess
    >>> from toolvet.mcp.transport import StdioTarget
    >>> target = StdioTarget(command="python", args=("examples/bookshop_server.py",))
    >>> report = asyncio.run(assess(target, Options(timeout=5)))  # doctest: +SKIP

The way of an answer into the report, with the file that makes each shape:

    Reply ──────────────► ObservedCall ──────────────► Scenario ──────┐
    (transport)           (exchange.observe)           (exchange)     │
                                │                                     ├──► Report ──► every format
                                └─► Finding ──► merged, with the id ──┘    (assemble)  (report/renderers)
                                    (rules)     of its Scenario (assemble)

    rules       what was observed → findings; the catalogue has a file for each subject
    report      a report as JSON, HTML, SARIF, JUnit, Markdown and on the terminal
    scenarios   what is sent to a tool: valid calls, edge cases, and calls with one thing wrong
    many        many servers, each in a process of its own, here or on a cluster
    replay      recorded calls made again against another version; peers: other programs on the same server
    testing     fixtures for pytest; settings: the section `[assess]` of a settings file

Start reading at `assessing.py`.

A finding about one call names that call by the id of its scenario, and formats join the two by that id. Secrets are
removed where words leave this way for the report: in `rules/quote.py` for findings, in `exchange` for scenarios, in
`assemble` for the server's own description, in `requests` and `assemble` for resources and prompts.
"""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)
