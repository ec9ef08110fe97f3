"""The examples in the docstrings of the pure rooms of the proxy are true."""

import doctest
import importlib
import pkgutil

import pytest

import toolvet.mcp.wire
import toolvet.proxy.session

MODULES = [
    "toolvet.proxy.http.request_filter",
    *(
        f"{room.__name__}.{each.name}"
        for room in (toolvet.proxy.session, toolvet.mcp.wire)
        for each in pkgutil.iter_modules(room.__path__)
    ),
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_are_true(name: str) -> None:
    failures, _ = doctest.testmod(importlib.import_module(name), optionflags=doctest.REPORT_NDIFF)
    assert failures == 0
