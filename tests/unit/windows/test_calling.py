"""The reply asks for tools: RESULT, CHECKPOINT, TOOL_CALL; no tool is known, so none has a body."""
# ruff: noqa: E501  # a row of a table is one line

from collections.abc import Callable

import pytest

from .scene import CALL, Scene, call
from .table import check, rows

pytestmark = pytest.mark.seed("SEED-04")


def answered(scene: Scene, do: Callable[[], None]) -> None:
    """Act from a listener of a message with one call."""
    scene.replies = [CALL]
    scene.at("AM", do)
    scene.ask("A")


def checkpoint(scene: Scene, do: Callable[[], None]) -> None:
    """Act while the flush in front of the first call is awaited."""
    scene.replies = [CALL]
    scene.hold("flush")
    scene.ask("A")
    scene.quiet()
    scene.open("model")
    do()


def called(scene: Scene, do: Callable[[], None]) -> None:
    """Act from a listener of `tool/call`."""
    scene.replies = [CALL]
    scene.at("TC", do)
    scene.ask("A")


def first_result(scene: Scene, do: Callable[[], None]) -> None:
    """Act from a listener of the first of two results."""
    scene.replies = [(call(1), call(2))]
    scene.at("TR", do)
    scene.ask("A")


def last_result(scene: Scene, do: Callable[[], None]) -> None:
    """Act from a listener of the only result."""
    scene.replies = [CALL]
    scene.at("TR", do)
    scene.ask("A")


RESULT = """
    cancel          abort cancelled TR(not-started) SE TE{aborted:r} FLUSH idle W              # B-23
    dispose         abort disposed TR(not-started) SE TE{disposed} FLUSH W gone END            # B-123
    send            FLUSH TC TR(unknown-tool) SE SS CH CH AM SE TE{completed} FLUSH [B] idle W # A-05
    steer           FLUSH TC TR(unknown-tool) SM(S) SE SS CH CH AM SE TE{completed} FLUSH idle W
    inject          FLUSH TC TR(unknown-tool) CM(c) SE SS CH CH AM SE TE{completed} FLUSH idle W
    cancel+send     abort cancelled TR(not-started) SE TE{aborted:r} FLUSH running [B] idle W
    send+cancel     abort cancelled -B{cancelled:r} TR(not-started) SE TE{aborted:r} FLUSH idle W
    cancel+steer    abort cancelled TR(not-started) SE TE{aborted:r} FLUSH running [S] idle W
    cancel+dispose  abort cancelled disposed TR(not-started) SE TE{disposed} FLUSH W gone END
    dispose+cancel  abort disposed TR(not-started) SE TE{disposed} FLUSH W gone END
    send+dispose    abort disposed -B{disposed:disposed} TR(not-started) SE TE{disposed} FLUSH W gone END
"""

CHECKPOINT = """
    cancel          abort cancelled FLUSH TR(not-started) SE TE{aborted:r} FLUSH idle W        # B-118
    dispose         abort disposed FLUSH TR(not-started) SE TE{disposed} FLUSH W gone END      # B-118
    send            FLUSH TC TR(unknown-tool) SE SS CH CH AM SE TE{completed} FLUSH [B] idle W
    steer           FLUSH TC TR(unknown-tool) SM(S) SE SS CH CH AM SE TE{completed} FLUSH idle W
    inject          FLUSH TC TR(unknown-tool) CM(c) SE SS CH CH AM SE TE{completed} FLUSH idle W
    cancel+send     abort cancelled FLUSH TR(not-started) SE TE{aborted:r} FLUSH running [B] idle W
    send+cancel     abort cancelled -B{cancelled:r} FLUSH TR(not-started) SE TE{aborted:r} FLUSH idle W
    cancel+steer    abort cancelled FLUSH TR(not-started) SE TE{aborted:r} FLUSH running [S] idle W
    cancel+dispose  abort cancelled disposed FLUSH TR(not-started) SE TE{disposed} FLUSH W gone END
    dispose+cancel  abort disposed FLUSH TR(not-started) SE TE{disposed} FLUSH W gone END
    send+dispose    abort disposed -B{disposed:disposed} FLUSH TR(not-started) SE TE{disposed} FLUSH W gone END
"""

CALLED = """
    cancel          abort cancelled TR(not-started) SE TE{aborted:r} FLUSH idle W              # B-24
    dispose         abort disposed TR(not-started) SE TE{disposed} FLUSH W gone END            # B-125
    send            TR(unknown-tool) SE SS CH CH AM SE TE{completed} FLUSH [B] idle W
    steer           TR(unknown-tool) SM(S) SE SS CH CH AM SE TE{completed} FLUSH idle W        # A-10
    inject          TR(unknown-tool) CM(c) SE SS CH CH AM SE TE{completed} FLUSH idle W        # A-16
    cancel+send     abort cancelled TR(not-started) SE TE{aborted:r} FLUSH running [B] idle W
    send+cancel     abort cancelled -B{cancelled:r} TR(not-started) SE TE{aborted:r} FLUSH idle W
    cancel+steer    abort cancelled TR(not-started) SE TE{aborted:r} FLUSH running [S] idle W
    cancel+dispose  abort cancelled disposed TR(not-started) SE TE{disposed} FLUSH W gone END
    dispose+cancel  abort disposed TR(not-started) SE TE{disposed} FLUSH W gone END
    send+dispose    abort disposed -B{disposed:disposed} TR(not-started) SE TE{disposed} FLUSH W gone END
"""

FIRST_RESULT = """
    cancel          abort cancelled TR(not-started) SE TE{aborted:r} FLUSH idle W              # B-63
    dispose         abort disposed TR(not-started) SE TE{disposed} FLUSH W gone END            # B-63
    send            TC TR(unknown-tool) SE SS CH CH AM SE TE{completed} FLUSH [B] idle W
    steer           TC TR(unknown-tool) SM(S) SE SS CH CH AM SE TE{completed} FLUSH idle W
    inject          TC TR(unknown-tool) CM(c) SE SS CH CH AM SE TE{completed} FLUSH idle W     # A-16
    cancel+send     abort cancelled TR(not-started) SE TE{aborted:r} FLUSH running [B] idle W
    send+cancel     abort cancelled -B{cancelled:r} TR(not-started) SE TE{aborted:r} FLUSH idle W
    cancel+steer    abort cancelled TR(not-started) SE TE{aborted:r} FLUSH running [S] idle W
    cancel+dispose  abort cancelled disposed TR(not-started) SE TE{disposed} FLUSH W gone END
    dispose+cancel  abort disposed TR(not-started) SE TE{disposed} FLUSH W gone END
    send+dispose    abort disposed -B{disposed:disposed} TR(not-started) SE TE{disposed} FLUSH W gone END
"""

LAST_RESULT = """
    cancel          abort cancelled SE TE{aborted:r} FLUSH idle W                              # B-134
    dispose         abort disposed SE TE{disposed} FLUSH W gone END
    send            SE SS CH CH AM SE TE{completed} FLUSH [B] idle W
    steer           SM(S) SE SS CH CH AM SE TE{completed} FLUSH idle W
    inject          CM(c) SE SS CH CH AM SE TE{completed} FLUSH idle W
    cancel+send     abort cancelled SE TE{aborted:r} FLUSH running [B] idle W
    send+cancel     abort cancelled -B{cancelled:r} SE TE{aborted:r} FLUSH idle W
    cancel+steer    abort cancelled SE TE{aborted:r} FLUSH running [S] idle W
    cancel+dispose  abort cancelled disposed SE TE{disposed} FLUSH W gone END
    dispose+cancel  abort disposed SE TE{disposed} FLUSH W gone END
    send+dispose    abort disposed -B{disposed:disposed} SE TE{disposed} FLUSH W gone END
"""


@pytest.mark.at("result: assistant message recorded")
@pytest.mark.clause("B-23", "B-123", "B-124", "A-16", "B-68", "K-03")
@pytest.mark.parametrize(("name", "trace"), rows(RESULT))
def test_inside_the_notification_of_a_reply_with_a_call(name: str, trace: str) -> None:
    """A stop answers the call as not started, without a `tool/call`; context waits for the result."""
    check(answered, "running TS UM(A) SS CH AM", name, trace)


@pytest.mark.at("checkpoint")
@pytest.mark.clause("B-118", "B-123", "B-124", "B-138")
@pytest.mark.parametrize(("name", "trace"), rows(CHECKPOINT))
def test_while_the_flush_before_the_first_call_is_awaited(name: str, trace: str) -> None:
    """The flush gets the grace of a stopped turn; then the call is answered as not started."""
    check(checkpoint, "running TS UM(A) SS CH AM", name, trace)


@pytest.mark.at("tool-call")
@pytest.mark.clause("B-24", "B-123", "B-125", "A-10", "A-16")
@pytest.mark.parametrize(("name", "trace"), rows(CALLED))
def test_inside_the_notification_of_a_call(name: str, trace: str) -> None:
    """A stop between a call and its body leaves the call not started."""
    check(called, "running TS UM(A) SS CH AM FLUSH TC", name, trace)


@pytest.mark.at("tool-call: tool result recorded")
@pytest.mark.clause("B-63", "B-123", "A-16")
@pytest.mark.parametrize(("name", "trace"), rows(FIRST_RESULT))
def test_between_two_calls(name: str, trace: str) -> None:
    """A stop is looked for after each result, and the later call gets no `tool/call`."""
    check(first_result, "running TS UM(A) SS CH CH AM FLUSH TC TR(unknown-tool)", name, trace)


@pytest.mark.at("tool-call: tool result recorded")
@pytest.mark.clause("B-63", "B-68", "B-134")
@pytest.mark.parametrize(("name", "trace"), rows(LAST_RESULT))
def test_inside_the_last_result(name: str, trace: str) -> None:
    """A step with calls would go on; a stop in its last result opens no further step."""
    check(last_result, "running TS UM(A) SS CH AM FLUSH TC TR(unknown-tool)", name, trace)
