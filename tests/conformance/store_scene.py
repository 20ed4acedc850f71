"""A runtime that keeps one session in a real database on a stage, and the world that both follow.

Theory. The code that talks to SQLite is the real one; when it runs, and whether it then fails, is
the stage's. Every call is told to the follower of the store world as it is made, and so is what the
disk does and what the driver appends. Whenever nobody has anything to do, what can be seen of the
runtime and of the database - through the eyes of another process - is compared with what the world
could have come to.

A turn appends its records in two stretches, one before the model is asked and one behind its
answer, so the beginnings and ends of turns are all that the world has to know of a log.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, TypeVar

from runtime import (
    SESSION_FLUSH,
    AgentHandle,
    CallerError,
    FiberState,
    LifecycleError,
    Record,
    Runtime,
    Session,
    SessionNotice,
    SqliteBackend,
    open_runtime,
)
from runtime.session.journal import Journal
from runtime.session.log import SessionHeader, SessionLog
from runtime.subject import StageClock, StageIdentifiers
from statemachine.conformance.stage.stage import Stage
from statemachine.worlds import Actor, Call, DisagreementError, Seen
from statemachine.worlds.store import View, store_follower
from statemachine.worlds.store import table as t
from tests.conformance.store_process import Port, Process, SilentModel, boundaries, is_flushing

__all__ = ["Scene"]

T = TypeVar("T")
FOLLOWER = store_follower()
"""What follows every scene, one after the other: it remembers what can follow what."""
_HELD_UP: Final = frozenset({Actor.STORE, Actor.TEARDOWN, Actor.DRIVER})
SESSION: Final = "s"
AGENT: Final = "a"


class Scene:
    """A session, its database, and one process after the other."""

    def __init__(self) -> None:
        self.stage = Stage()
        self.stage.__enter__()
        self.stage.gates.auto = lambda name: name == "stage"
        self._directory = TemporaryDirectory()
        self.root = Path(self._directory.name) / "0"
        self.root.mkdir()
        self.story: list[str] = []
        self.judged = 0
        self.broken: DisagreementError | None = None
        self.rival: Journal | None = None
        self.is_loss_untold = False
        self.is_dead = False
        """A process was killed; what its tasks still do when they are taken away is not seen."""
        self.follower = FOLLOWER
        self.follower.states = frozenset({self.follower.world.initial})
        self.process = self._open()
        self._take(self.process.runtime.agents.create(agent_id=AGENT, session_id=SESSION))
        self.stage.loop.monitor = self._between

    def _open(self) -> Process:
        port = Port(self.stage, lambda event: self.look(Call(event=event)))
        self.backend = SqliteBackend(self.root / "s.db")
        opening = open_runtime(
            store=self.backend,
            blocking=port,
            models={"silent": SilentModel(self.stage)},
            default_model="silent",
            clock=StageClock(self.stage),
            identifiers=StageIdentifiers(),
        )
        runtime: Runtime = self.stage.complete(opening.__aenter__(), "open")
        runtime.on(SESSION_FLUSH, self._on_flush, plugin="scene")
        self.stage.settle()
        return Process(runtime, opening, port)

    def _take(self, handle: AgentHandle) -> None:
        process = self.process
        assert process.runtime.roster is not None
        process.handle, process.teardown = handle, None
        process.core = process.runtime.roster.cores[AGENT]
        process.told = len(boundaries(handle.agent.session.events))

    # -- What there is -----------------------------------------------------------------------------

    @property
    def session(self) -> Session | None:
        """The session of the agent, while there is one."""
        handle = self.process.handle
        return None if handle is None else handle.agent.session

    @property
    def agent(self) -> str:
        """What the agent is doing, in the words of the view."""
        process = self.process
        if process.handle is None:
            return "loading" if process.is_loading else "none"
        return "live" if process.teardown is None else "ending"

    @property
    def is_entered(self) -> bool:
        """Whether the session is live."""
        return self.process.runtime.sessions.get(SESSION) is not None

    @property
    def is_kept(self) -> bool:
        """Whether the keeper is loaded."""
        keeper = self.process.runtime.persistence
        return keeper is not None and keeper.state is FiberState.ACTIVE

    def stored(self) -> Sequence[Record]:
        """Return what another process finds."""
        try:
            return SqliteBackend(self.root / "s.db").read(SESSION).records
        except CallerError:
            return ()

    def view(self) -> View:
        """Return what can be seen."""
        core, session = self.process.core, self.session
        is_waiting = core is not None and session is not None and is_flushing(core)
        return View(
            agent=self.agent,
            log=() if session is None else boundaries(session.events),
            disk=boundaries(self.stored()),
            is_kept=self.is_kept,
            under_way=self.process.port.under_way,
            is_flush_waiting=is_waiting,
            is_loss_untold=self.is_loss_untold,
        )

    # -- What is asked for -------------------------------------------------------------------------

    def send(self) -> None:
        """Give the agent something to do."""
        assert self.process.handle is not None
        self.process.handle.agent.send("go on")

    def create(self) -> None:
        """Make an agent on a new session of the same id."""
        self.look(Call(event=t.CREATE))
        runtime = self.process.runtime
        self._take(runtime.agents.create(agent_id=AGENT, session_id=SESSION))

    def resume(self) -> None:
        """Ask for an agent on the stored session."""
        self.process.port.has_loaded = False
        self.process.resuming = self.stage.spawn(self._serve(), "resume", may_linger=True)

    async def _serve(self) -> None:
        process = self.process
        is_refused = self.agent != "none"
        process.is_asked = is_cut = True
        try:
            handle = await process.runtime.agents.resume(session_id=SESSION, agent_id=AGENT)
            is_cut = False
            process.is_loading = False
            self._take(handle)
        except LifecycleError:
            is_cut = False
            if process.is_asked and is_refused:
                self.look(Call(event=t.RESUME, is_refused=True))
            elif not process.is_asked:
                process.is_loading = False
        finally:
            if is_cut and process is self.process:
                process.is_loading = False
                self.look(Call(event=t.GIVE_UP))
            process.is_asked = False

    def give_up(self) -> None:
        """Let whoever waits for a resume be cancelled."""
        assert self.process.resuming is not None
        self.process.resuming.cancel()

    def dispose(self) -> None:
        """Dispose the agent."""
        process = self.process
        assert process.handle is not None
        self._tell_appended()
        self.look(Call(event=t.DISPOSE))
        self._end(process)

    def _end(self, process: Process) -> None:
        assert process.handle is not None
        process.teardown = process.handle.dispose()
        self.stage.spawn(self._await_end(process), "dispose", may_linger=True)

    async def _await_end(self, process: Process) -> None:
        assert process.teardown is not None
        assert process.handle is not None
        report = await process.teardown
        logged = list(process.handle.agent.session.events)
        is_told = bool(report.failed or report.stragglers)
        self.is_loss_untold |= not is_told and list(self.stored()) != logged
        process.handle = process.core = None
        process.is_flush_left = False

    def unload(self, *, is_for_good: bool) -> None:
        """Unload what keeps sessions, and load it again or not."""
        keeper = self.process.runtime.persistence
        assert keeper is not None
        self.look(Call(event=t.UNLOAD_KEEPER))
        _ = keeper.dispose() if is_for_good else keeper.restart()
        self.stage.run_until_quiet()

    def stop(self) -> None:
        """Close the runtime."""
        process = self.process
        self.look(Call(event=t.STOP))
        process.is_stopping = True
        if process.handle is not None and process.teardown is None:
            self._end(process)
        process.runtime.aclose()
        self.stage.run_until_quiet()

    def answer(self, outcome: str) -> None:
        """Let the disk do what it was asked for, or fail, or both."""
        self._open_gate("disk", outcome)

    def think(self) -> None:
        """Let the model answer."""
        self._open_gate("model", "ok")

    def _open_gate(self, name: str, outcome: str) -> None:
        for gate in self.stage.gates.open_gates:
            if gate.name == name:
                self.stage.gates.open(gate, outcome)
                return

    def has_gate(self, name: str) -> bool:
        """Whether somebody waits there."""
        return any(gate.name == name for gate in self.stage.gates.open_gates)

    def let_grace_pass(self) -> None:
        """Let the next timer run out, whose ever it is."""
        if self.stage.loop.next_timer() is not None:
            self.process.is_flush_left |= self.view().is_flush_waiting
            self.look(Call(event=t.GRACE))
            self.stage.loop.fire_next_timer()
            self.stage.run_until_quiet()

    # -- Processes ---------------------------------------------------------------------------------

    def crash(self, *, is_late: bool) -> None:
        """Kill the process, before or behind what its disk is asked for, and start another one."""
        event, call = t.CRASH, self.process.port.call
        if is_late and call is not None:
            try:
                call()
            except LifecycleError:
                pass
            else:
                event = t.CRASH_LATE
        self._tell_appended()
        self.look(Call(event=event))
        self.stage.loop.monitor = None
        self.is_dead = True
        before, self.root = self.root, self.root.with_name(f"{self.root.name}+")
        shutil.copytree(before, self.root)
        for path in self.root.rglob("*.lock"):
            path.unlink()
        self.stage.__exit__(None, None, None)
        self.backend.close()
        self.is_dead = False
        if self.rival is not None:
            self.rival = None
            self.look(Call(event=t.RIVAL_GOES))
        self.stage = Stage()
        self.stage.__enter__()
        self.stage.gates.auto = lambda name: name == "stage"
        self.process = self._open()
        self.stage.loop.monitor = self._between

    def rival_resumes(self) -> None:
        """Let another process resume the session, if this one does not write it."""
        journal = Journal(SqliteBackend(self.root / "s.db"), SESSION)
        try:
            journal.load(_rebuilt)
        except CallerError:
            self.look(Call(event=t.RIVAL_RESUMES, is_refused=True))
        else:
            self.rival = journal
            self.look(Call(event=t.RIVAL_RESUMES))

    def rival_goes(self) -> None:
        """Let the other process let go of the session."""
        assert self.rival is not None
        self.rival.release()
        self.rival.backend.close()
        self.rival = None
        self.look(Call(event=t.RIVAL_GOES))

    # -- Judging -----------------------------------------------------------------------------------

    async def _on_flush(self, _: SessionNotice) -> None:
        core, session = self.process.core, self.session
        is_drivers = core is not None and core.last_flush is None
        if is_drivers and self.is_kept and session is not None and len(session.events):
            self._tell_appended()
            self.look(Call(event=t.FLUSH))

    def _between(self) -> None:
        """Between two callbacks, tell what was done, and compare if that was the last one."""
        process = self.process
        if process.is_asked:
            process.is_asked, process.is_loading = False, True
            self.look(Call(event=t.RESUME))
        self._tell_appended()
        if not self.stage.loop.has_ready:
            self.judge()

    def _tell_appended(self) -> None:
        session, process = self.session, self.process
        if session is None or process.teardown is not None:
            return
        assert not session.events or session.events[-1].type in ("step/start", "turn/end")
        length = len(boundaries(session.events))
        while process.told < length:
            process.told += 1
            self.look(Call(event=t.APPEND))

    def judge(self) -> None:
        """Compare what is seen with what the world could have come to."""
        loop = self.stage.loop
        is_held_up = bool(self.stage.gates.open_gates) or loop.next_timer() is not None
        self.judged += 1
        excused = _HELD_UP if is_held_up else frozenset[Actor]()
        self._see(Seen(view=self.view(), is_quiet=True, excused=excused))

    def look(self, call: Call) -> None:
        """Tell a call."""
        if self.is_dead:
            return
        self.story.append(str(call))
        self._see(Seen[View](call=call))

    def _see(self, seen: Seen[View]) -> None:
        if self.broken is not None:
            raise self.broken
        try:
            self.follower.see(seen)
        except DisagreementError as error:
            # Kept, because whoever announces contains what its listeners raise.
            self.broken = DisagreementError(f"{error}\n" + "\n".join(self.story))
            raise self.broken from None

    def finish(self) -> None:
        """Let everything happen, with the disk in order, and look at the rest."""
        self.story.append("the end")
        for _ in range(100):
            self.stage.run_until_quiet()
            if not self.stage.gates.open_gates:
                break
            for name in ("disk", "model"):
                self._open_gate(name, "ok")
        self.stage.run_until_quiet()

    def shut(self) -> None:
        """Close the runtime and the stage."""
        self.stage.loop.monitor = None
        try:
            self.stage.gates.auto = lambda _: True
            self.finish()
            self.stage.complete(self.process.opening.__aexit__(None, None, None), "close")
        finally:
            self.stage.__exit__(None, None, None)
            if self.rival is not None:
                self.rival.backend.close()
            self._directory.cleanup()


def _rebuilt(header: SessionHeader, records: Sequence[Record]) -> SessionLog:
    return SessionLog(header, clock=_NoClock(), seed=records)


class _NoClock:
    def now_ms(self) -> int:
        return 0
