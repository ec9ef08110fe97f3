"""A request is handled without a task, until it waits for something of asyncio; then it is like any other coroutine."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from toolvet.proxy.http.handling import Handling, OneTimeEvent, in_turn, need_task


def run(test: Coroutine[Any, Any, None]) -> None:
    async def going() -> None:
        async with asyncio.timeout(10):
            await test

    asyncio.run(going())


async def called(work: Any) -> None:
    """Call it as a loop calls a protocol: outside any task."""
    done = asyncio.get_running_loop().create_future()

    def call() -> None:
        work()
        done.set_result(None)

    asyncio.get_running_loop().call_soon(call)
    await done


def test_what_a_turn_wakes_goes_on_at_its_end_without_a_task() -> None:
    came: list[str] = []

    async def test() -> None:
        loop = asyncio.get_running_loop()
        wakeup = OneTimeEvent()

        async def work() -> None:
            came.append("begun")
            await wakeup
            came.append("woken")
            assert asyncio.current_task() is None

        handling = Handling(work(), loop)

        def begin(data: bytes) -> None:
            handling.start()
            came.append(data.decode())

        def wake(data: bytes) -> None:
            wakeup.set()
            came.append(data.decode())

        await called(lambda: in_turn(begin, b"one"))
        assert came == ["one", "begun"]
        await called(lambda: in_turn(wake, b"two"))
        assert came == ["one", "begun", "two", "woken"]
        assert handling.is_over
        await handling.over()

    run(test())


def test_who_waits_for_a_future_gets_a_task_and_keeps_it() -> None:
    tasks: list[object] = []

    async def test() -> None:
        wakeup = OneTimeEvent()

        async def work() -> None:
            tasks.append(asyncio.current_task())
            await need_task()
            tasks.append(asyncio.current_task())
            async with asyncio.timeout(5):
                await asyncio.sleep(0)
            await wakeup
            tasks.append(asyncio.current_task())

        handling = Handling(work(), asyncio.get_running_loop())
        handling.start()
        asyncio.get_running_loop().call_later(0.01, wakeup.set)
        await handling.over()
        assert tasks[0] is None
        assert tasks[1] is not None
        assert tasks[1] is tasks[2]

    run(test())


@pytest.mark.parametrize("where", ["wakeup", "future", "new task"])
def test_a_cancelled_one_ends_where_it_waits(where: str) -> None:
    ends: list[str] = []

    async def test() -> None:
        loop = asyncio.get_running_loop()
        begun = loop.create_future()

        async def work() -> None:
            begun.set_result(None)
            try:
                await (OneTimeEvent() if where == "wakeup" else loop.create_future())
            except asyncio.CancelledError:
                ends.append("cancelled")
                raise
            finally:
                ends.append("tidied up")

        handling = Handling(work(), loop)
        if where == "new task":
            # Its task is made, and has not begun.
            def run_and_cancel() -> None:
                handling.run()
                handling.cancel()

            await called(run_and_cancel)
        else:
            handling.start()
            await begun
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            handling.cancel()
        await handling.over()
        handling.cancel()
        assert ends == ["cancelled", "tidied up"]

    run(test())


def test_an_error_is_reported_and_ends_it() -> None:
    told: list[object] = []

    async def test() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _loop, context: told.append(context["exception"]))
        error = ValueError("a bug")

        async def work() -> None:
            raise error

        handling = Handling(work(), loop)
        handling.start()
        await handling.over()
        assert told == [error]

    run(test())


def test_a_coroutine_that_is_woken_twice_waits_for_the_second_thing() -> None:
    came: list[str] = []

    async def test() -> None:
        first, second = OneTimeEvent(), OneTimeEvent()

        async def work() -> None:
            await first
            came.append("first")
            await second
            came.append("second")

        handling = Handling(work(), asyncio.get_running_loop())
        await called(handling.run)
        first.set()
        await called(handling.run)
        await called(handling.run)
        assert came == ["first"]
        second.set()
        await handling.over()
        assert came == ["first", "second"]

    run(test())
