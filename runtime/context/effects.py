"""Effects: what a plugin has set up, and how it is undone.

An effect is a function that does something and gives back how to undo it: a disposer, a generator
of disposers, or either of them asynchronously. Inside one effect the order is kept - the last
disposer runs first, and each is awaited before the next. Between the effects of a fiber there is
no order. So whoever needs order puts the parts into one effect, by yielding them: an effect or a
fiber that is yielded becomes a part of the effect that yields it, and nothing else does.

An end begins at the call: disposers that need no waiting run inside `dispose`, and the first that
does hands the rest to a task. However often and by whomever the end is asked for, there is one.
"""

import asyncio
import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator
from contextlib import aclosing, closing
from functools import partial
from typing import TYPE_CHECKING, Any

from runtime.containment import contain
from runtime.teardown import Teardown

from .endings import Ending, Findings, Work
from .errors import InvalidEffectError
from .guests import Guest
from .parts import Call, EffectTree, Part, Setup, is_owned, name_of, tasks_of

if TYPE_CHECKING:
    from .lives import Life

__all__ = ["Effect"]


class Effect(Part):
    """One thing that a plugin has set up.

    Await it to know that an asynchronous set-up is done.

    Clauses: G-01 G-02 G-04 G-05 G-06 G-07
    """

    __slots__ = (
        "_current",
        "_ending",
        "_guest",
        "_is_awaited",
        "_is_unwinding",
        "_is_up",
        "_left",
        "_life",
        "_own",
        "_parts",
        "_ready",
        "_work",
    )

    def __init__(
        self,
        life: "Life",
        name: str,
        own_tasks: "Callable[[], Any] | None" = None,
    ) -> None:
        super().__init__(name, life)
        self._life = life
        self._own = own_tasks
        self._parts: dict[Part, None] = {}
        self._current: Part | None = None
        self._guest: Guest | None = None
        self._work: Work | None = None
        self._ready: asyncio.Future[None] | None = None
        self._is_awaited = False
        self._is_up = False
        self._is_unwinding = False
        self._left: tuple[str, ...] = ()
        self._ending: Ending | None = None
        life.add(self)

    # -- Setting up --------------------------------------------------------------------------------

    def set_up(self, setup: Setup) -> None:
        """Run the set-up; what has to be awaited of it runs in a task.

        Raises:
            InvalidEffectError: it gave back something that is no disposer.
            BaseException: what the set-up raised; what it had set up is undone.
        """
        rest = self.begin(setup)
        if rest is not None:
            self._ready = self._life.kernel.loop.create_future()
            self._life.setting_up[self] = None
            name = f"set-up of {self.name}"
            loop = self._life.kernel.loop
            self._work = Work(loop, name, lambda: self._set_up_awaited(rest), self._break_down)

    def begin(self, setup: Setup) -> Coroutine[Any, Any, None] | None:
        """Run as much of the set-up as needs no waiting, and return the rest of it."""
        try:
            rest = self._begin_with(setup())
        except BaseException:
            self._roll_back()
            raise
        if rest is not None:
            return self.finish(rest)
        self._came_up()
        return None

    def _begin_with(self, result: Any) -> Coroutine[Any, Any, None] | None:  # noqa: ANN401  # a plugin's
        if isinstance(result, AsyncGenerator):
            return self._collect_awaited(result)
        if isinstance(result, Generator):
            with closing(_with_result(result)) as disposers:
                for disposer in disposers:
                    self._collect(disposer)
        elif is_owned(result) or not inspect.isawaitable(result):
            self._collect(result)
        else:
            return self._collect_one(result)
        return None

    async def finish(self, rest: Awaitable[None]) -> None:
        """Await the rest of a set-up.

        Raises:
            BaseException: what it raised; what it had set up is undone.
        """
        try:
            await rest
        except GeneratorExit:
            # Whoever ran this is gone, and a loop with it: nothing can be awaited any more.
            raise
        except BaseException:
            findings = Findings()
            await findings.outlast(self.name, self._roll_back())
            self._life.rolled_back(findings)
            raise
        self._came_up()

    async def _set_up_awaited(self, rest: Awaitable[None]) -> None:
        self._guest = guest = Guest(self._life.kernel, f"set-up of {self._where()}", rest)
        if self._ending is not None or self._life.is_hurried:
            guest.hurry()
        error = await guest.outcome()
        if guest.is_left:
            self.abandon(guest.name)
        self._life.setting_up.pop(self, None)
        assert self._ready is not None
        if error is None:
            self._ready.set_result(None)
            return
        self._ready.set_exception(error)
        self._ready.exception()
        if not self._is_awaited:
            self._life.blame(self.name, error)

    def __await__(self) -> Generator[Any, None, "Effect"]:
        """Wait until the set-up is done.

        Raises:
            Exception: what the set-up raised.
            WouldDeadlockError: awaited inside its own set-up.
        """
        self._is_awaited = True
        if self._ready is not None and not self._ready.done():
            with self._life.kernel.waits.noted(f"the set-up of {self.name}", self.set_up_tasks):
                yield from asyncio.shield(self._ready).__await__()
        elif self._ready is not None:
            self._ready.result()
        return self

    async def set_up_ended(self) -> None:
        """Wait until the set-up has ended, whichever way."""
        if self._ready is not None and not self._ready.done():
            await asyncio.wait((self._ready,))

    def set_up_tasks(self) -> "set[asyncio.Task[Any] | None]":
        """Return the tasks of its set-up, while that runs."""
        return set() if self._is_up else self._tasks()

    def _tasks(self) -> "set[asyncio.Task[Any] | None]":
        return {each.task for each in (self._work, self._guest) if each is not None}

    def hurry(self) -> None:
        """Let the grace of the set-up begin, if it still runs."""
        if not self._is_up and self._guest is not None:
            self._guest.hurry()

    async def _collect_one(self, awaited: Awaitable[Any]) -> None:
        self._collect(await awaited)

    async def _collect_awaited(self, generator: AsyncGenerator[Any, None]) -> None:
        async with aclosing(generator):
            async for disposer in generator:
                self._collect(disposer)

    def _collect(self, disposer: Any) -> None:  # noqa: ANN401  # whatever a plugin gave back
        if disposer is None:
            return
        if isinstance(disposer, Part) and disposer.holder is self._life and disposer is not self:
            self._life.drop(disposer)
            disposer.holder = self
            self._parts[disposer] = None
        elif is_owned(disposer):
            self._parts[Call(name_of(disposer), disposer.dispose)] = None
        elif callable(disposer):
            self._parts[Call(name_of(disposer), disposer)] = None
        else:
            raise InvalidEffectError(
                f"effect {self.name} of {self._life.fiber.name} refused: it gave back "
                f"{disposer!r}; give back a function that undoes it, or None"
            )

    def _came_up(self) -> None:
        self._is_up = True
        if self._ending is not None:
            self._unwind()

    def abandon(self, *stragglers: str) -> None:
        """Undo it without its set-up, which was left behind; later, what that still gives back.

        Clauses: G-51
        """
        self._left += stragglers
        self._roll_back()

    def _roll_back(self) -> Ending:
        self._is_up = True
        if self._ending is None:
            self._ending = self._make_ending()
        self._unwind()
        return self._ending

    # -- The end -----------------------------------------------------------------------------------

    @property
    def is_open(self) -> bool:
        """Whether its end has not been asked for."""
        return self._ending is None

    def dispose(self) -> Teardown:
        """Undo it now and return the end, the same one for every caller.

        A set-up that still runs is awaited first, within its grace.

        Clauses: G-05 G-06 G-40 G-50 G-51
        """
        if self._ending is None:
            self._life.kernel.check_thread(f"dispose of effect {self.name}")
            self._ending = self._make_ending()
            if self._is_up:
                self._unwind()
            else:
                self.hurry()
        return self._ending

    def forget(self) -> None:
        """Take it off without running a disposer: what it stood for has ended by itself."""
        if self._ending is None:
            self._ending = self._make_ending()
            self._parts.clear()
            self._end(Findings())

    def drop(self, part: Part) -> None:
        """Forget a part that has ended."""
        self._parts.pop(part, None)

    def _make_ending(self) -> Ending:
        kernel = self._life.kernel
        name = f"{self.name} of {self._life.fiber.name}"
        return Ending(name, kernel.loop, lambda: tasks_of(self), kernel.waits)

    def _unwind(self) -> None:
        if self._is_unwinding:
            return  # Whoever unwinds takes up what comes meanwhile.
        self._is_unwinding = True
        self._guest = None
        findings = Findings(stragglers=list(self._left))
        waiting = self._run_disposers(findings)
        if waiting is None:
            self._end(findings)
        else:
            name, loop = f"teardown of {self.name}", self._life.kernel.loop
            unwind = partial(self._unwind_awaited, waiting, findings)
            self._work = Work(loop, name, unwind, self._break_down)

    async def _unwind_awaited(self, waiting: Awaitable[object] | None, findings: Findings) -> None:
        while waiting is not None:
            where = self._where()
            if isinstance(waiting, Teardown):
                await findings.outlast(where, waiting)
            else:
                self._guest = Guest(self._life.kernel, where, waiting)
                self._guest.hurry()
                await findings.outwait(where, self._guest)
            waiting = self._run_disposers(findings)
        self._end(findings)

    def _run_disposers(self, findings: Findings) -> Awaitable[object] | None:
        """Run disposers, the last one first, until one has to be awaited; return that."""
        while self._parts:
            part = next(reversed(self._parts))
            del self._parts[part]
            self._current = part
            answers: list[object] = []
            call = part.call if isinstance(part, Call) else part.dispose
            who = self._life.fiber.name
            error = contain(lambda: answers.append(call()), what=f"disposer {self.name}", who=who)  # noqa: B023  # called at once
            if error is not None:
                findings.note(self._where(), error)
                continue
            (answer,) = answers
            if isinstance(answer, Ending) and answer.is_done:
                findings.take(answer.report)
            elif inspect.isawaitable(answer):
                return answer
        self._current = None
        return None

    def _where(self) -> str:
        part = f", {self._current.name}" if self._current is not None else ""
        return f"{self._life.fiber.name}, {self.name}{part}"

    def _end(self, findings: Findings) -> None:
        assert self._ending is not None
        self._work = self._guest = self._current = None
        self._is_unwinding = False
        if self.holder is not None:
            self.holder.drop(self)
        self._ending.finish(findings.report())

    def _break_down(self, bug: BaseException) -> None:
        if self._ready is not None and not self._ready.done():
            self._ready.set_exception(bug)
            self._ready.exception()
        if self._ending is None:
            self._ending = self._make_ending()
        self._ending.fail(bug)

    # -- Looking -----------------------------------------------------------------------------------

    def tree(self) -> EffectTree:
        """Return it and its parts that have names of their own."""
        parts = (part for part in self._parts if not isinstance(part, Call))
        return EffectTree(self.name, tuple(part.tree() for part in parts))

    def gather_tasks(self, tasks: "set[asyncio.Task[Any] | None]", seen: set[int]) -> None:
        """Add the tasks of its set-up, of its end, and of what it consists of."""
        if id(self) in seen:
            return
        seen.add(id(self))
        tasks |= self._tasks()
        if self._own is not None:
            self._own_into(tasks, seen)
        for part in (self._current, *self._parts):
            if part is not None:
                part.gather_tasks(tasks, seen)

    def _own_into(self, tasks: "set[asyncio.Task[Any] | None]", seen: set[int]) -> None:
        assert self._own is not None
        for each in self._own():
            if isinstance(each, Part):
                each.gather_tasks(tasks, seen)
            else:
                tasks.add(each)


def _with_result(generator: Generator[Any, None, Any]) -> Generator[Any, None, None]:
    """Yield what a generator yields and then what it returns."""
    result = yield from generator
    yield result
