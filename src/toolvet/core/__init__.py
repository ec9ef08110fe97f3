"""Judges one moment of a tool call, or a whole turn: values in, verdicts out. It does no I/O.

    tool, arguments             → checks     ArgumentReport: valid or not, what is wrong, the nearest valid call
    tool, arguments, result     → checks     ResultVerdict: did it work; if not, why, and what helps
    a response                  → envelope   findings about its shape; also builders and converters
    an answer, the turn's calls → turn       AnswerQuality: its score, and the signals that speak against it

    settings      the sections of a settings file, each declared by its wing
    tool_rules    rules on a tool's definition: does it only read, what may it destroy
    schema        JSON Schema → violations, examples, repairs
    tools         a tool in any form → its parts; messages: a conversation in any format → its turns
    matching      patterns and a text → spans; prose: the parts of a text that are not its author's own words
    causes        what went wrong → its row in one table; redact: values without secrets
    discover      the package's own data files, and the cache of compiled data
    private       is a folder or file at a guessable name this user's alone?
    exports       `lazy`, by which a package offers names to other wings

>>> from toolvet.core.checks import check_result
>>> check_result({"name": "add"}, {}, {"content": [{"type": "text", "text": "Error: no such book"}]}).error_without_flag
True

Start reading at `checks/result/result_check.py`: the other checks have the same form.
"""
