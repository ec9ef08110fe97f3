"""The session does what its reference says, whatever a client, a server and a driver do, in both eras.

Its findings are in `model_found.conversation` and in the tests of batches in `test_bytes.py`, as small as it was found.
"""

import pytest
from hypothesis import settings
from tests.examples import examples
from tests.proxy.session.model.machine import SessionMachine

# A conversation that fails is made smaller before it is shown, which takes minutes.
pytestmark = pytest.mark.timeout(900)

TestSession = SessionMachine.TestCase
# `make fuzz` draws ten times as many examples, `make model` a hundred times.
TestSession.settings = settings(examples(60), stateful_step_count=30, report_multiple_bugs=False)
