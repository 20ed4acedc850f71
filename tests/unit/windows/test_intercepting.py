"""While interceptors are asked, and while a tool's body runs: every act at each of these points.

What an act leads to there has few parts. A stop is told (to the model as well, if it was asked),
what is under way is closed, and the turn ends; anything else lets the turn go on as it would have.
So each point says what closes it, what goes on, and where steering and context come to lie.
"""

from collections.abc import Callable
from typing import Any, Final

import pytest
from attrs import frozen

from runtime import Reply, ToolUse, seams
from runtime.context.interceptors import Kind

from .scene import CALL, Scene
from .table import Point, check, rows

STEP: Final = "SS CH CH AM SE"


@frozen(kw_only=True)
class Place:
    """One point at which somebody is waited for."""

    name: str
    point: Point
    before: str
    """What has happened when the act is done."""
    told: str = ""
    """How a stop reaches the model, if it was asked already."""
    closing: str
    """What a stopped turn still records."""
    rest: str
    """What follows while nothing stops the turn."""
    steered: str
    """The same, if steering came."""
    injected: str
    """The same, if context came."""

    def __str__(self) -> str:
        return self.name

    def rows(self) -> list[object]:
        """Return what each act leads to."""
        told, closing = self.told, self.closing
        aborted = f"{closing} TE{{aborted:r}} FLUSH"
        disposed = f"{closing} TE{{disposed}} FLUSH W gone END"
        return rows(f"""
            cancel          {told} cancelled {aborted} idle W
            dispose         {told} disposed {disposed}
            send            {self.rest} TE{{completed}} FLUSH [B] idle W
            steer           {self.steered} TE{{completed}} FLUSH idle W
            inject          {self.injected} TE{{completed}} FLUSH idle W
            cancel+send     {told} cancelled {aborted} running [B] idle W
            send+cancel     {told} cancelled -B{{cancelled:r}} {aborted} idle W
            cancel+steer    {told} cancelled {aborted} running [S] idle W
            cancel+dispose  {told} cancelled disposed {disposed}
            dispose+cancel  {told} disposed {disposed}
            send+dispose    {told} disposed -B{{disposed:disposed}} {disposed}
        """)


def asked(seam: Kind, *replies: Any) -> Point:  # noqa: ANN401  # what a scene has in store
    """Act while the interceptor of a seam is asked for the first time."""

    def point(scene: Scene, do: Callable[[], None]) -> None:
        first = [True]

        async def interceptor(_: object, proceed: Any = None) -> object:  # noqa: ANN401  # any seam
            if first:
                first.clear()
                await scene.stage.gate("asked")
            return None if proceed is None else await proceed()

        scene.rt.context.on(seam, interceptor)
        if seam is seams.TOOL_PERMISSION:
            scene.rt.context.on(seams.TOOL_BEFORE, lambda _use, _proceed: seams.Ask())
            scene.rt.context.on(seam, lambda _: True)
        scene.tool()
        scene.replies = list(replies)
        scene.ask("A")
        while not scene.stage.gates.open_gates or scene.stage.gates.open_gates[0].name != "asked":
            scene.quiet()
            if scene.stage.gates.open_gates[0].name != "asked":
                scene.open()
        do()

    return point


def in_body(*, cooperative: bool) -> Point:
    """Act while the body of a tool waits for something outside."""

    def point(scene: Scene, do: Callable[[], None]) -> None:
        async def body(*_: object) -> str:
            await scene.stage.gate("tool")
            return "done"

        scene.tool(body, cooperative=cooperative)
        scene.replies = [CALL]
        scene.ask("A")
        scene.quiet()
        scene.open("model")
        do()

    return point


def denied(scene: Scene, do: Callable[[], None]) -> None:
    """Act while the result of a call that was denied is judged."""
    scene.rt.context.on(seams.TOOL_BEFORE, lambda _use, _proceed: seams.Deny("no"))
    asked(seams.TOOL_AFTER, CALL)(scene, do)


def at(head: str, *replies: Any, body: Callable[..., object] | None = None) -> Point:  # noqa: ANN401  # what a scene has in store
    """Act from a listener of the first token that begins like this."""

    def point(scene: Scene, do: Callable[[], None]) -> None:
        scene.tool(body or (lambda _arguments, _use: "done"))
        scene.replies = list(replies)
        scene.at(head, do)
        scene.ask("A")

    return point


def steered(scene: Scene, do: Callable[[], None]) -> None:
    """Act when steering that came during the step is recorded at its end."""
    scene.ask("A")
    scene.quiet()
    scene.a.steer("P")
    scene.at("SM", do)


def injected(scene: Scene, do: Callable[[], None]) -> None:
    """Act when context is recorded while the model is silent."""
    scene.ask("A")
    scene.quiet()
    scene.at("CM", do)
    scene.a.inject("d")


def inject_and_return(_: object, use: ToolUse) -> str:
    """Be a body that adds context, which waits for its result."""
    use.agent.inject("d")
    return "done"


CALLED: Final = "running TS UM(A) SS CH AM FLUSH TC"
GOES_ON: Final = f"SE {STEP}"


def calling(
    name: str, point: Point, closing: str, before: str = CALLED, *, answer: str = "body TR(done)"
) -> Place:
    """Return a place behind the record of a call; `answer` is what comes of the call."""
    return Place(
        name=name,
        point=point,
        before=before,
        told="abort",
        closing=closing,
        rest=f"{answer} {GOES_ON}",
        steered=f"{answer} SM(S) {GOES_ON}",
        injected=f"{answer} CM(c) {GOES_ON}",
    )


def running(name: str, point: Point, closing: str) -> Place:
    """Return a place behind the beginning of a tool's body."""
    return calling(name, point, closing, f"{CALLED} body", answer="TR(done)")


PLACES: Final = (
    Place(
        name="prompt submitted",
        point=asked(seams.PROMPT_SUBMIT),
        before="running TS",
        closing="UM(A)",  # B-11
        rest=f"UM(A) {STEP}",
        steered=f"UM(A) SM(S) {STEP}",
        injected=f"CM(c) UM(A) {STEP}",
    ),
    Place(
        name="assembly",
        point=asked(seams.SYSTEM_ASSEMBLE),
        before="running TS UM(A)",
        closing="",  # B-13
        rest=STEP,
        steered=f"SS CH CH AM SM(S) SE {STEP}",  # B-56
        injected=f"CM(c) {STEP}",
    ),
    Place(
        name="pre-step",
        point=asked(seams.STEP_PREPARE),
        before="running TS UM(A)",
        closing="",  # B-14
        rest=STEP,
        steered=f"SS CH CH AM SM(S) SE {STEP}",
        injected=f"CM(c) {STEP}",
    ),
    Place(
        name="request",
        point=asked(seams.MODEL_REQUEST),
        before="running TS UM(A) SS",
        closing="SE",  # B-16
        rest="CH CH AM SE",
        steered=f"CH CH AM SM(S) SE {STEP}",
        injected="CM(c) CH CH AM SE",
    ),
    Place(
        name="result",
        point=asked(seams.STEP_RESULT),
        before="running TS UM(A) SS CH CH",
        told="abort",
        closing="AM SE",  # B-22
        rest="AM SE",
        steered=f"AM SM(S) SE {STEP}",
        injected="CM(c) AM SE",
    ),
    Place(
        name="result with a call",
        point=asked(seams.STEP_RESULT, CALL),
        before="running TS UM(A) SS CH",
        told="abort",
        closing="AM TR(not-started) SE",  # B-23
        rest=f"AM FLUSH TC body TR(done) {GOES_ON}",
        steered=f"AM FLUSH TC body TR(done) SM(S) {GOES_ON}",
        injected=f"CM(c) AM FLUSH TC body TR(done) {GOES_ON}",
    ),
    calling("before a tool", asked(seams.TOOL_BEFORE, CALL), "TR(not-started) SE"),  # B-24 B-125
    calling("permission question", asked(seams.TOOL_PERMISSION, CALL), "TR(not-started) SE"),
    # It was denied before the stop, and that is known.
    calling("after a denied call", denied, "TR(denied) SE", answer="TR(denied)"),
    running("tool body", in_body(cooperative=False), "TR(done) SE"),  # K-13
    running("cooperative tool body", in_body(cooperative=True), "TR(unknown) SE"),  # B-108
    running("after a tool", asked(seams.TOOL_AFTER, CALL), "TR(done) SE"),
    calling("tool result recorded", at("TR", CALL), "SE", f"{CALLED} body TR(done)", answer=""),
    Place(
        name="deferred context",
        point=at("CM", CALL, body=inject_and_return),
        before=f"{CALLED} body TR(done) CM(d)",
        # Recording it and `step/end` are one decision, so both stand before what is said later.
        told="abort SE",
        closing="",
        rest=GOES_ON,
        steered=f"SE SM(S) {STEP}",
        injected=f"SE CM(c) {STEP}",
    ),
    Place(
        name="steering recorded at the end of a step",
        point=steered,
        before="running TS UM(A) SS CH CH AM SM(P)",
        # So are steering and `step/end`.
        told="abort SE",
        closing="",
        rest=GOES_ON,
        steered=f"SE SM(S) {STEP}",
        injected=f"SE CM(c) {STEP}",
    ),
    Place(
        name="context recorded",
        point=injected,
        before="running TS UM(A) SS CM(d)",
        told="abort",
        closing="SE",
        rest="CH CH AM SE",
        steered=f"CH CH AM SM(S) SE {STEP}",
        injected="CM(c) CH CH AM SE",
    ),
    Place(
        name="continuation",
        point=asked(seams.TURN_CONTINUE),
        before=f"running TS UM(A) {STEP}",
        told="abort",
        closing="",  # B-27
        rest="",
        steered=f"SM(S) {STEP}",  # B-69
        injected="CM(c)",
    ),
)


@pytest.mark.at(
    "prompts", "prompts: prompt submitted", "assembly", "pre-step", "request", "result",
    "tool-call: before a tool", "tool-call: permission question", "tool-call: after a tool",
    "tool-body", "tool-body: after a tool", "tool-body: tool result recorded",
    "step-end: deferred context", "step-end: steering recorded", "context recorded",
    "continuation",
)  # fmt: skip
@pytest.mark.clause("B-11", "B-13", "B-14", "B-16", "B-22", "B-23", "B-24", "B-27", "B-41", "B-44")
@pytest.mark.clause("B-45", "B-63", "B-69", "B-108", "B-123", "B-125", "A-10", "A-16", "K-13")
@pytest.mark.parametrize(
    ("place", "name", "trace"),
    [
        pytest.param(place, *row.values, id=f"{place}-{row.values[0]}")  # type: ignore[attr-defined]
        for place in PLACES
        for row in place.rows()
    ],
)
def test_while_somebody_is_waited_for(place: Place, name: str, trace: str) -> None:
    """Whoever is asked answers within the grace; what it says after a stop changes nothing more."""
    check(place.point, place.before, name, trace)


@pytest.mark.clause("B-137")
def test_the_rewrite_of_a_reply_that_comes_within_the_grace_is_recorded() -> None:
    """It is the interceptors' answer, whether the turn goes on or not."""
    with Scene() as scene:
        block = {"type": "text", "text": "rewritten"}

        async def rewrite(_: seams.StepResult, proceed: Any) -> Reply:  # noqa: ANN401  # a seam's
            reply: Reply = await proceed()
            await scene.stage.gate("asked")
            return Reply(content=[block], finish=reply.finish)

        scene.rt.context.on(seams.STEP_RESULT, rewrite)
        scene.ask("A")
        scene.quiet()
        scene.open("model")
        scene.a.cancel("r")
        scene.settle()
        assert scene.a.session.messages()[-1].text == "rewritten"
