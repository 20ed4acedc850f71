"""The real bridge, held to the bridge world: every request, every frame, every callback.

Theory. What a client asks for begins when the bridge is called, and what it is told happens when
the frame is written; both are told to the follower of the bridge world as they happen. Between any
two callbacks what can be seen - which sessions are there, how far each prompt is in its log - is
compared with what the world could have come to. So a disagreement is told at the first callback at
which it can be seen, and a step that is owed when all is quiet.
"""

import re
from collections.abc import Callable
from typing import Any, Final

from attrs import define, field

from runtime import Runtime
from runtime.acp.bridge import Bridge
from runtime.session.content import text_of
from runtime.session.log import Session
from runtime.teardown import Teardown
from statemachine.conformance.stage.stage import Stage
from statemachine.worlds import Actor, Call, DisagreementError, Event, Follower, Seen
from statemachine.worlds.bridge import (
    Client,
    Outcome,
    Progress,
    State,
    Told,
    View,
    bridge_follower,
)
from statemachine.worlds.bridge import table as t
from tests.conformance.acp_clients import Count

__all__ = ["FOLLOWER", "PROMPTS_MAX", "SESSIONS_MAX", "Following", "watched"]

Frame = dict[str, Any]

SESSIONS_MAX: Final = 4
PROMPTS_MAX: Final = 5
FOLLOWER: Final = bridge_follower(sessions=SESSIONS_MAX, prompts=PROMPTS_MAX)
"""What follows every connection, one after the other: it remembers what can follow what."""

_HELD_UP: Final = frozenset({Actor.STORE, Actor.MODEL, Actor.DRIVER, Actor.TEARDOWN})
_TEXT: Final = re.compile(r"p\d+\.")
_CALL: Final = re.compile(r"call-(\d+)-")
_EVENTS: Final = {
    "session/new": t.NEW, "session/load": t.LOAD, "session/resume": t.LOAD,
    "session/prompt": t.PROMPT, "session/close": t.CLOSE,
}  # fmt: skip
_HANDLERS: Final = {
    "new_session": t.NEW, "load_session": t.LOAD, "resume_session": t.LOAD, "prompt": t.PROMPT,
    "close_session": t.CLOSE,
}  # fmt: skip
_ANSWERS: Final = {
    t.LOAD: (t.OPENED, t.REFUSED), t.CLOSE: (t.CLOSED, t.CLOSED), t.PROMPT: (t.ANSWER, t.ANSWER),
}  # fmt: skip


@define(eq=False)
class _Request:
    """One request of the client."""

    event: Event
    session: str | None
    text: str = ""
    """What is said, if it is a prompt."""
    is_shown: bool = False
    """Whether what was said before is asked for."""
    has_begun: bool = False
    slot: int | None = None
    """Where the world has it, if it is a prompt that was accepted."""


@define(eq=False)
class _Log:
    """What the log of a session says about prompts, read once."""

    session: Session
    has_turn: bool = False
    """Whether a turn is open."""
    turns: dict[str, int] = field(factory=dict)
    ended: set[int] = field(factory=set)
    _read: int = 0

    def read_on(self) -> None:
        events = self.session.events
        for record in events[self._read :]:
            match record.type:
                case "turn/start":
                    self.has_turn = True
                case "user/message":
                    self.turns[text_of(record.data["content"])] = record.data["turn"]
                case "turn/end":
                    self.has_turn = False
                    self.ended.add(record.data["turn"])
                case _:
                    pass
        self._read = len(events)


@define(eq=False)
class Following:
    """Holds one client and its bridge to the world."""

    stage: Stage
    runtime: Runtime
    sessions: list[str] = field(factory=list)
    """Every session that this client spoke of, by its number in the world."""
    slots: list[_Request | None] = field(factory=lambda: [None] * PROMPTS_MAX)
    requests: dict[int, _Request] = field(factory=dict)
    """Those that are not answered, by id."""
    bridge: Bridge = field(init=False)
    teardown: Teardown | None = None
    """The end of the bridge, once it has begun."""
    count: Count = field(factory=Count)
    follower: Follower[State, View] = FOLLOWER
    story: list[str] = field(factory=list)
    broken: DisagreementError | None = None
    _undecided: _Request | None = None
    _questions: int = 0
    _logs: dict[str, _Log] = field(factory=dict)
    _last: View | None = None

    def __attrs_post_init__(self) -> None:
        """Begin where the world begins."""
        self.follower.states = frozenset({self.follower.world.initial})

    # -- What the client says ----------------------------------------------------------------------

    def has_room(self, session: str | None = None) -> bool:
        """Say whether the bounds of the world leave room for another session, or for this one."""
        coming = sum(request.event is t.NEW for request in self.requests.values())
        return session in self.sessions or len(self.sessions) + coming < SESSIONS_MAX

    @property
    def prompts_left(self) -> int:
        """How many prompts the bounds of the world leave room for."""
        under_way = sum(request.event is t.PROMPT for request in self.requests.values())
        return PROMPTS_MAX - under_way

    def said(self, frame: Frame) -> None:
        """Note a request that is on its way."""
        params = frame["params"]
        text = "".join(block["text"] for block in params.get("prompt", ()))
        event, is_shown = _EVENTS[frame["method"]], frame["method"] == "session/load"
        request = _Request(event, params.get("sessionId"), text, is_shown)
        self.requests[frame["id"]] = request
        if request.session is not None:
            self.number(request.session)

    def number(self, session: str) -> int:
        """Return the number of a session, a new one if it has none."""
        if session not in self.sessions:
            self.sessions.append(session)
        return self.sessions.index(session)

    def permitted(self) -> None:
        """Note that a question was answered."""
        self._questions -= 1

    # -- What the bridge is called for -------------------------------------------------------------

    def begun(self, event: Event, session: str | None) -> None:
        """Note that the bridge takes up a request, in the order in which they were said."""
        self._accept()
        self._undecided = next(
            request
            for request in self.requests.values()
            if (request.event, request.session) == (event, session) and not request.has_begun
        )
        self._undecided.has_begun = True

    def cancelled(self, session: str) -> None:
        """Tell that a cancel takes effect."""
        self._accept()
        self.look(Call(event=t.CANCEL, about=self.number(session)))

    def left(self, end: Teardown) -> None:
        """Tell that the end of the client has begun, once; every agent is disposed by then."""
        if self.teardown is None:
            self._accept()
            self.teardown = end
            self.look(Call(event=t.DISCONNECT))

    def _accept(self) -> None:
        """Tell that what has got so far was not refused."""
        request, self._undecided = self._undecided, None
        if request is None or request.event is t.NEW:
            return
        assert request.session is not None
        if request.event is t.PROMPT:
            request.slot = self.slots.index(None)
            self.slots[request.slot] = request
        self.look(Call(event=request.event, about=self.number(request.session)))

    # -- What is written ---------------------------------------------------------------------------

    def written(self, frame: Frame) -> None:
        """Tell what the client is told."""
        if frame.get("method") == "session/update":
            self._accept()
            self._shown(frame["params"])
        elif "method" in frame:
            self._accept()
            self._questions += 1
        else:
            self._answered(frame)

    def _answered(self, frame: Frame) -> None:
        request = self.requests.pop(frame["id"], None)
        is_at_call = request is not None and request is self._undecided
        if is_at_call:
            self._undecided = None
        else:
            self._accept()
        if request is None:
            self.look(Call(event=t.ANSWER, about=Told(0, Outcome.UNDECIDED)))
        elif request.event is t.NEW:
            self._made(frame)
        elif is_at_call:
            assert request.session is not None
            about = self.number(request.session)
            self.look(Call(event=request.event, about=about, is_refused=True))
        else:
            self._settled(request, frame)

    def _made(self, frame: Frame) -> None:
        is_refused = "error" in frame
        about = 0 if is_refused else self.number(frame["result"]["sessionId"])
        self.look(Call(event=t.NEW, about=about, is_refused=is_refused))

    def _settled(self, request: _Request, frame: Frame) -> None:
        is_error = "error" in frame
        event = _ANSWERS[request.event][is_error]
        assert request.session is not None
        if request.slot is None:
            self.look(Call(event=event, about=self.number(request.session)))
            return
        self.slots[request.slot] = None
        is_cancelled = not is_error and frame["result"]["stopReason"] == "cancelled"
        outcome = Outcome.CANCELLED if is_cancelled else Outcome.TURN
        self.look(Call(event=event, about=Told(request.slot, outcome)))

    def _shown(self, params: Frame) -> None:
        session = params["sessionId"]
        loads = (each for each in self.requests.values() if each.is_shown)
        is_loading = any(each.session == session and each.has_begun for each in loads)
        has_prompt = any(each is not None and each.session == session for each in self.slots)
        if is_loading and not has_prompt:
            event = t.REPLAY
        else:
            event = t.SHOW_LATE if self._is_late(session, params["update"]) else t.SHOW
        self.look(Call(event=event, about=self.number(session)))

    def _is_late(self, session: str, update: Frame) -> bool:
        """Say whether an update is of a turn that has ended; texts and calls name their turn."""
        log = self._log(session)
        if log is None:
            return False
        if "toolCallId" in update:
            called = _CALL.match(update["toolCallId"])
            return called is not None and int(called[1]) in log.ended
        named = _TEXT.findall(update["content"]["text"])
        return bool(named) and log.turns.get(named[-1]) in log.ended

    # -- What can be seen --------------------------------------------------------------------------

    def view(self) -> View:
        """Return what can be seen of the runtime and of the client."""
        # Numbers that no session has yet are of sessions that are not there.
        rest = [False] * (SESSIONS_MAX - len(self.sessions))
        return View(
            there=(*map(self._is_there, self.sessions), *rest),
            turns=(*map(self._has_turn, self.sessions), *rest),
            prompts=tuple(map(self._progress, self.slots)),
            client=self._client(),
        )

    def _is_there(self, session: str) -> bool:
        is_registered = self.runtime.agents.get(session) is not None
        return is_registered or self.runtime.sessions.get(session) is not None

    def _has_turn(self, session: str) -> bool:
        log = self._log(session)
        return log is not None and log.has_turn

    def _client(self) -> Client:
        if self.teardown is None:
            return Client.HERE
        return Client.GONE if self.teardown.is_done else Client.LEAVING

    def _progress(self, request: _Request | None) -> Progress | None:
        if request is None:
            return None
        assert request.session is not None
        log = self._log(request.session)
        turn = None if log is None else log.turns.get(request.text)
        if log is None or turn is None:
            return Progress.WAITING
        return Progress.ENDED if turn in log.ended else Progress.RUNNING

    def _log(self, session: str) -> _Log | None:
        """Return what the newest log of a session says, also when it is gone."""
        live = self.runtime.sessions.get(session)
        known = self._logs.get(session)
        if live is not None and (known is None or known.session is not live):
            known = self._logs[session] = _Log(live)
        if known is not None:
            known.read_on()
        return known

    # -- Judging -----------------------------------------------------------------------------------

    def judge(self) -> None:
        """Compare, between two callbacks."""
        if self.broken is not None:
            raise self.broken
        self._accept()
        is_quiet = not self.stage.loop.has_ready
        # The world goes on unseen from what was seen last, so the same sight tells nothing new.
        if is_quiet or self.view() != self._last:
            self.look(is_quiet=is_quiet)

    def look(self, call: Call | None = None, *, is_quiet: bool = False) -> None:
        """Compare what is seen now with what the world could have come to.

        Raises:
            DisagreementError: it could not; the message tells what was asked for and told.
        """
        if self.broken is not None:
            raise self.broken
        self.count.looks += 1
        if call is not None:
            self.story.append(str(call))
            (self.count.refused if call.is_refused else self.count.events).add(call.event.name)
        self._last = self.view()
        seen = Seen(view=self._last, call=call, is_quiet=is_quiet, excused=self._excused())
        try:
            self.follower.see(seen)
        except DisagreementError as error:
            # Kept, because the SDK contains what is raised while it works.
            self.broken = DisagreementError(f"{error}\n" + "\n".join(self.story))
            raise self.broken from None

    def _excused(self) -> frozenset[Actor]:
        if self.stage.gates.open_gates or self.stage.loop.next_timer() is not None:
            return _HELD_UP
        return frozenset({Actor.MODEL}) if self._questions else frozenset()


def watched(plain: type[Bridge], following: Callable[[], Following]) -> type[Bridge]:
    """Return a bridge that tells a follower what it is called for."""

    def taken_up(name: str, event: Event) -> Callable[..., Any]:
        serve = getattr(plain, name)

        async def handler(self: Bridge, **named: Any) -> Any:  # noqa: ANN401  # as the plain one
            following().begun(event, named.get("session_id"))
            return await serve(self, **named)

        return handler

    class Watched(plain):  # type: ignore[misc, valid-type]  # chosen when it runs
        def on_connect(self, client: Any) -> None:  # noqa: ANN401  # as the plain one
            following().bridge = self
            super().on_connect(client)

        async def cancel(self, session_id: str, **named: Any) -> None:  # noqa: ANN401  # as the plain one
            following().cancelled(session_id)
            await super().cancel(session_id, **named)

        def aclose(self) -> Teardown:
            end: Teardown = super().aclose()
            following().left(end)
            return end

    for name, event in _HANDLERS.items():
        setattr(Watched, name, taken_up(name, event))
    return Watched
