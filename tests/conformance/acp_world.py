"""Clients of the bridge on the stage: the SDK, the bridge and the runtime are the real ones.

Theory. What a client has been told must be so. The world remembers every line that was written to a
client, looks into the runtime at the instants at which something is claimed, and judges:

* each request is answered once, and at rest every one is;
* the updates that a prompt caused come before its answer, what comes of later turns behind it;
* a cancel reaches the prompts accepted before it whose turn had not ended, and no other: those are
  answered as cancelled, those that had not begun are never recorded, later ones are not touched;
* a session that is closed, or whose client has gone, is neither registered nor in the store, until
  somebody loads it anew.
"""

import asyncio
from typing import Any, Final

from attrs import define, field

from runtime import Runtime, open_runtime
from runtime.acp.bridge import Bridge
from runtime.acp.serving import serve
from runtime.containment import attempt
from runtime.seams import TOOL_BEFORE, Ask
from runtime.session.content import text_of
from runtime.session.memory import MemoryBackend
from runtime.staged import StagedSeams
from runtime.subject import CALL, CUT_SHORT, StageClock, StageIdentifiers
from statemachine.conformance.stage.stage import Stage
from tests.conformance.acp_clients import (
    Connection,
    Count,
    GatedBlocking,
    MemoryWire,
    PromptedModel,
    Sent,
)

__all__ = ["BrokenPromiseError", "World"]

Frame = dict[str, Any]

_STOPPED: Final = ("aborted", "disposed")


class BrokenPromiseError(AssertionError):
    """A client was told what is not so or was not told, or something of it was left."""

    def __init__(self, story: str, criterion: str) -> None:
        super().__init__(story)
        self.criterion = criterion
        """The row of the verdict that it breaks."""


@define(eq=False)
class World:
    """One runtime, one client after the other."""

    count: Count = field(factory=Count)
    stage: Stage = field(factory=Stage)
    story: list[str] = field(factory=list)
    broken: str | None = None
    is_guest: bool = False
    """Whether somebody else enters and leaves the stage."""
    runtime: Runtime = field(init=False)
    connection: Connection = field(init=False)
    known: list[str] = field(factory=list)
    """Every session that any client ever had."""
    _opening: Any = field(init=False)
    _numbers: int = 0
    _logs: dict[str, Any] = field(factory=dict)
    """The newest log of each session, also when it is gone."""

    def open(self) -> None:
        """Open the runtime, and connect the first client."""
        if not self.is_guest:
            self.stage.__enter__()
        self.stage.model_answers |= {"call": lambda _: CALL, "max-tokens": lambda _: CUT_SHORT}
        self._opening = open_runtime(
            store=MemoryBackend(),
            models={"stage": PromptedModel(self.stage)},
            default_model="stage",
            clock=StageClock(self.stage),
            identifiers=StageIdentifiers(),
            blocking=GatedBlocking(self.stage),
        )
        self.runtime = self.stage.complete(self._opening.__aenter__())
        seams = StagedSeams(
            self.stage, self.runtime.context, self.runtime.tools, tell=lambda *_: None
        )
        seams.intercept("tool/body")
        self.runtime.context.on(TOOL_BEFORE, lambda _use, _proceed: Ask())
        self.connect()

    def connect(self) -> None:
        """Connect a client, in the place of one that has gone."""
        wire = self.make_wire()
        serving = serve(self.runtime, wire, make_bridge=self.bridge())
        self.connection = Connection(wire=wire, task=self.stage.spawn(serving, "connection"))

    def make_wire(self) -> MemoryWire:
        """Make the wire of the next client."""
        return MemoryWire()

    def bridge(self) -> type[Bridge]:
        """Return what serves the next client."""
        world = self

        class Watched(Bridge):
            async def prompt(self, prompt: list[Any], session_id: str, **_: object) -> Frame:
                world.arrived(self, session_id, prompt)
                return await super().prompt(prompt, session_id)

            async def cancel(self, session_id: str, **_: object) -> None:
                world.cancelling(self, session_id)
                await super().cancel(session_id)

        return Watched

    # -- Acts --------------------------------------------------------------------------------------

    def has_room(self, session: str | None = None, *, prompts: int = 0) -> bool:  # noqa: ARG002  # for whoever has bounds
        """Say whether a session may be spoken of, a new one if it is None, and so many prompts."""
        return True

    def tell(self, line: str) -> None:
        """Remember what was done."""
        self.story.append(line)

    def request(self, method: str, **params: object) -> Frame:
        """Return a request with an id of its own."""
        self._numbers += 1
        self.connection.requests[self._numbers] = method
        return {"jsonrpc": "2.0", "id": self._numbers, "method": method, "params": params}

    def new(self) -> Frame:
        """Ask for a session."""
        return self.request("session/new", cwd="/", mcpServers=[])

    def load(self, session: str, *, is_shown: bool = True) -> Frame:
        """Ask for a stored session, and for what was said in it."""
        method = "session/load" if is_shown else "session/resume"
        frame = self.request(method, sessionId=session, cwd="/", mcpServers=[])
        self.connection.loads[frame["id"]] = session
        return frame

    def close(self, session: str) -> Frame:
        """Close a session."""
        frame = self.request("session/close", sessionId=session)
        self.connection.closes[frame["id"]] = session
        self._may_cancel(session)
        return frame

    def prompt(self, session: str) -> Frame:
        """Prompt."""
        text = f"p{self._numbers + 1}."
        block = {"type": "text", "text": text}
        frame = self.request("session/prompt", sessionId=session, prompt=[block])
        self.connection.prompts.append(Sent(text, session, frame["id"]))
        return frame

    def cancel(self, session: str) -> Frame:
        """Cancel."""
        self._may_cancel(session)
        params = {"sessionId": session}
        return {"jsonrpc": "2.0", "method": "session/cancel", "params": params}

    def disconnect(self) -> None:
        """Let the client go."""
        for session in tuple(self.connection.touched):
            self._may_cancel(session)
        for sent in self.connection.prompts:
            sent.may_cancel = True
        self.connection.wire.end()

    def _may_cancel(self, session: str) -> None:
        for sent in self.connection.prompts:
            if sent.session == session:
                sent.may_cancel = True

    # -- What the bridge is about to do ------------------------------------------------------------

    def arrived(self, bridge: Bridge, session_id: str, blocks: list[Any]) -> None:
        """Note a prompt that the bridge is about to accept."""
        if session_id in bridge._open and bridge._teardown is None:  # noqa: SLF001  # a witness
            self._sent(blocks[0].text).was_accepted = True

    def cancelling(self, bridge: Bridge, session_id: str) -> None:
        """Note what a cancel that is about to take effect has to cover."""
        session = bridge._open.get(session_id)  # noqa: SLF001  # a witness
        if session is None:
            return
        answered = self._answered()
        turns, ended = self._turns(session_id)
        for sent in self.connection.prompts:
            if sent.session == session_id and sent.was_accepted and sent.request not in answered:
                turn = turns.get(sent.text)
                sent.must_not_run = sent.must_not_run or turn is None
                sent.must_cancel = sent.must_cancel or turn not in ended

    # -- Judgement ---------------------------------------------------------------------------------

    def judge(self) -> None:
        """Judge everything that was written since the last time.

        Raises:
            BrokenPromiseError: something of it is not so.
        """
        self.count.judged += 1
        connection = self.connection
        while connection.read < len(connection.wire.written):
            frame = connection.wire.written[connection.read]
            connection.read += 1
            if "method" not in frame:
                self._judge_answer(frame)
            elif frame["method"] == "session/request_permission":
                connection.questions.append(frame["id"])
            else:
                self._judge_update(frame["params"])

    def _judge_answer(self, frame: Frame) -> None:
        connection = self.connection
        number = frame["id"]
        method = connection.requests.get(number)
        self._check(method is not None, f"{frame} answers nothing that is open")
        del connection.requests[number]
        self.count.answers += 1
        if method == "session/new" and "result" in frame:
            self._opened(frame["result"]["sessionId"])
        elif method in {"session/load", "session/resume"} and "result" in frame:
            self.count.loads += 1
            self._opened(connection.loads[number])
        elif method == "session/close" and "result" in frame:
            self._closed(connection.closes[number])
        elif method == "session/prompt":
            self._judge_prompt(next(s for s in connection.prompts if s.request == number), frame)

    def _opened(self, session: str) -> None:
        self.connection.sessions.append(session)
        self.connection.touched.add(session)
        if session not in self.known:
            self.known.append(session)

    def _closed(self, session: str) -> None:
        if session in self.connection.sessions:
            self.connection.sessions.remove(session)
        self._check_gone(session, "it was closed")

    def _judge_prompt(self, sent: Sent, frame: Frame) -> None:
        if "error" in frame:
            self._check(not sent.must_cancel, f"{sent.text} was cancelled and answered {frame}")
            return
        reason = frame["result"]["stopReason"]
        turns, ended = self._turns(sent.session)
        ending = ended.get(turns.get(sent.text, 0))
        if sent.must_cancel:
            self._check(reason == "cancelled", f"{sent.text} was cancelled, answered {reason}")
        if reason == "cancelled":
            self.count.cancelled += 1
            self._check(sent.may_cancel, f"{sent.text} answered cancelled, nobody cancelled it")
        else:
            self._check(ending is not None, f"{sent.text} answered {reason} with no turn ended")
        self._check(
            sent.text not in turns or ending is not None,
            f"{sent.text} answered {reason} while its turn is open",
        )
        if reason == "end_turn":
            self._check(ending == "completed", f"{sent.text}: end_turn, its turn is {ending}")

    def _judge_update(self, params: Frame) -> None:
        session, update = params["sessionId"], params["update"]
        kind = update["sessionUpdate"]
        is_open = session in self.connection.sessions
        loading = [n for n in self.connection.requests if self.connection.loads.get(n) == session]
        is_ending = session in self.connection.touched
        self._check(is_open or bool(loading) or is_ending, f"update of {session}, unknown")
        if kind == "user_message_chunk":
            self._check(bool(loading) and not is_open, "replay that belongs to no open load")
            return
        if loading and not is_open:
            return
        if kind == "agent_message_chunk":
            self._judge_text(session, update["content"]["text"])

    def _judge_text(self, session: str, text: str) -> None:
        """Judge a reply: its prompts are not answered yet, those of earlier turns are."""
        turns, _ = self._turns(session)
        mine = [sent for sent in self.connection.prompts if sent.text in text]
        shown = max((turns.get(sent.text, 0) for sent in mine), default=0)
        for sent in self.connection.prompts:
            is_open = sent.request in self.connection.requests
            is_earlier = sent.session == session and turns.get(sent.text, shown) < shown
            self._check(is_open or sent not in mine, f"update of {sent.text} behind its answer")
            self._check(
                not (is_open and is_earlier),
                f"a later turn was shown before {sent.text} was answered",
            )

    def _turns(self, session: str) -> tuple[dict[str, int], dict[int, str]]:
        """Return which turn recorded which prompt, and how the turns ended that did."""
        live = self.runtime.sessions.get(session)
        if live is not None:
            self._logs[session] = live
        log = self._logs.get(session)
        turns: dict[str, int] = {}
        ended: dict[int, str] = {}
        for record in () if log is None else log.events:
            if record.type == "user/message":
                turns[text_of(record.data["content"])] = record.data["turn"]
            elif record.type == "turn/end":
                ended[record.data["turn"]] = record.data["ending"]
        return turns, ended

    def _sent(self, text: str) -> Sent:
        return next(sent for sent in self.connection.prompts if sent.text == text)

    def _answered(self) -> set[int]:
        return {f["id"] for f in self.connection.wire.written if "method" not in f}

    def _check_gone(self, session: str, why: str) -> None:
        is_registered = self.runtime.agents.get(session) is not None
        is_live = self.runtime.sessions.get(session) is not None
        self._check(
            not is_registered and not is_live, f"{session} is there although {why}", "INV-14"
        )

    def _check(self, is_so: bool, why: str, row: str = "INV-15") -> None:  # noqa: FBT001  # the thing itself
        if not is_so:
            self.broken = "\n".join([*self.story, f"broken: {why}"])
            raise BrokenPromiseError(self.broken, row)

    # -- The end -----------------------------------------------------------------------------------

    def rest(self) -> None:
        """Let everything happen that can, and judge what is to be so at rest."""
        self._settle()
        left = dict(self.connection.requests)
        if not self.connection.wire.is_ended:
            self._check(left == {}, f"never answered: {left}")
        else:
            prompts = {n: m for n, m in left.items() if m == "session/prompt"}
            accepted = {sent.request for sent in self.connection.prompts if sent.was_accepted}
            self._check(not accepted & set(prompts), f"never answered: {prompts}")
            self._check(self.connection.task.done(), "the connection does not end", "INV-14")
        for sent in self.connection.prompts:
            turns, _ = self._turns(sent.session)
            ran = sent.must_not_run and sent.text in turns
            self._check(not ran, f"{sent.text} was cancelled before it began, and ran")

    def finish(self) -> None:
        """Bring everything to rest, let the client go, and judge that nothing of it is left."""
        self.rest()
        self.disconnect()
        self.gone()
        self.stage.complete(self._opening.__aexit__(None, None, None))

    def gone(self) -> None:
        """Judge a client that has gone: nothing is left, and nothing appears later."""
        self.rest()
        self.count.gone += 1
        self._check(
            self.runtime.agents.list() == (), f"left: {self.runtime.agents.list()}", "INV-14"
        )
        self._check(self.runtime.sessions.list() == (), "a session was left", "INV-14")

    def _settle(self) -> None:
        for _ in range(200_000):
            self.answer_questions()
            if not self.stage.move():
                break
            self.judge()
        self._check(not self.stage.can_move(), "it never comes to rest")

    def answer_questions(self) -> None:
        """Refuse what was asked, so that nobody waits for a person."""
        while self.connection.questions and not self.connection.wire.is_ended:
            self.permit(self.connection.questions.pop(0), "reject")

    def permit(self, number: int, option: str) -> None:
        """Answer a question of the agent."""
        outcome = {"outcome": {"outcome": "selected", "optionId": option}}
        self.connection.wire.say({"jsonrpc": "2.0", "id": number, "result": outcome})

    def shut(self) -> None:
        """Close the stage; what is broken is first brought to an end as far as it can be."""
        if self.broken is not None:
            self.connection.wire.end()
            attempt(self.stage.complete, _end_of(self.connection.task))
            attempt(self.stage.complete, self._opening.__aexit__(None, None, None))
        if not self.is_guest:
            self.stage.__exit__(None, None, None)


async def _end_of(task: "asyncio.Task[None]") -> None:
    await asyncio.wait((task,))
