"""Mutation testing: a source file → small faults in it → which of them the tests of its room notice.

    source       if failures >= limit: …
    mutant       if failures > limit: …
    killed       a test that passes without the fault fails with it
    survived     no test fails; the test for `failures == limit` is missing, or the change makes no difference

`make mutants` runs all rooms of `rooms.toml`, `make mutants ROOM=breaker` one of them. `mutation.py` makes the faults
and says which are left out, `patch.py` puts one into a process, `trial.py` runs the tests against each;
docs/mutants.md has the scores and the survivors. mutmut 3.8 was looked at first: it leaves out decorated
functions (every property and cached function) and constants, and it changes all wording.
"""
