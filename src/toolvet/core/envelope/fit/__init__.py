"""Shorten a response until it fits a budget, and report in `meta` what was left out.

An example, with three files of 600 characters, a response of 1,971 characters, and a budget of 1,800:

    >>> from toolvet import fit_response
    >>> sizes = {"a": 5, "b": 1, "c": 9}
    >>> payload = {"files": [{"id": name, "size": size, "text": "x" * 600} for name, size in sizes.items()]}
    >>> response = fit_response(payload, 1_800, importance="size")
    >>> [file["id"] for file in response.data["files"]], response.meta["dropped_content_ids"]
    (['a', 'c'], ['b'])

    items     the outermost list that is not empty is /files; its items have the numbers 0, 1, 2 and the ids a, b, c
    order     by the weights in `size` the items are worth keeping in the order 2, 0, 1
    attempts  the ways to shorten, from the gentlest to the last resort, until one fits (fit.py):
                1. drop items             level "partial"; with `summarise`, replace them first: level "summary"
                2. drop inner items       of the lists inside of the items, where 1 was not enough
                3. cut long texts         level "summary", to half of the longest text, then to a quarter …
                4. keep references        level "reference_only": {"id": "c"} for each item
                5. keep nothing           level "reference_only"; the code and the type of a failure stay
    states    within an attempt, state n keeps the n most important items: state 2 keeps 2 and 0
    search    the largest state that fits: by exact sums where lengths add up, else by trying (attempt.py)
    result    the kept items in their old order; `meta` reports the level, the ids and a CONTENT_TRUNCATED warning

With an archive, what was left out is kept there, and `meta.content_archive_hashes` holds the hash to ask for it.
"""
