"""The ids of records: they sort by time, are UUIDs, and differ, in a forked process as well."""

import os
import sys
from uuid import UUID

import pytest

from toolvet.store.records import new_id


def test_ids_are_uuids_of_version_7_that_sort_by_time() -> None:
    found = [new_id(at) for at in (0.0, 1.5, 1_795_357_000.123, 1_795_357_000.124)]
    assert found == sorted(found)
    assert {(UUID(each).version, UUID(each).variant) for each in found} == {(7, UUID(new_id()).variant)}
    assert {len(each) for each in found} == {32}
    assert int(found[2][:12], 16) == 1_795_357_000_123


def test_ids_of_one_moment_differ() -> None:
    assert len({new_id(1.0) for _ in range(10_000)}) == 10_000


@pytest.mark.skipif(sys.platform == "win32", reason="no processes are forked there")
def test_a_forked_process_makes_other_ids() -> None:
    ours, theirs = os.pipe()
    process = os.fork()
    if not process:
        os.write(theirs, new_id(1.0).encode())
        os._exit(0)
    os.waitpid(process, 0)
    found = os.read(ours, 32).decode()
    os.close(ours)
    os.close(theirs)
    assert len(found) == 32
    assert found != new_id(1.0)
