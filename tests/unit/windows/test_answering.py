"""The model answers: STREAM and RESULT."""

import asyncio
from collections.abc import Callable

import pytest

from runtime import TextDelta
from runtime.streaming import CHUNKS_AT_ONCE

from .scene import EITHER_TASK, Scene
from .table import check, rows

pytestmark = pytest.mark.seed("SEED-04")


def asked(scene: Scene, do: Callable[[], None]) -> None:
    """Act while the model has not said anything."""
    scene.ask("A")
    scene.quiet()
    do()


def first_chunk(scene: Scene, do: Callable[[], None]) -> None:
    """Act from the listener of the first of two chunks."""
    scene.at("CH", do)
    scene.ask("A")


def last_chunk(scene: Scene, do: Callable[[], None]) -> None:
    """Act from the listener of the last chunk: the stream ends without another one."""
    scene.at("CH", lambda: scene.at("CH", do))
    scene.ask("A")


def in_the_model(scene: Scene, do: Callable[[], None]) -> None:
    """Act from the model itself, on whatever task it runs, just before it answers."""
    scene.at("model", do)
    scene.ask("A")


def answered(scene: Scene, do: Callable[[], None]) -> None:
    """Act from a listener of the assistant's message."""
    scene.at("AM", do)
    scene.ask("A")


STREAM = """
    cancel          abort cancelled SE TE{aborted:r} FLUSH idle W                 # B-17
    dispose         abort disposed SE TE{disposed} FLUSH W gone END               # B-44
    send            CH CH AM SE TE{completed} FLUSH [B] idle W                    # A-05
    steer           CH CH AM SM(S) SE SS CH CH AM SE TE{completed} FLUSH idle W   # A-10
    inject          CM(c) CH CH AM SE TE{completed} FLUSH idle W                  # A-16
    cancel+send     abort cancelled SE TE{aborted:r} FLUSH running [B] idle W     # A-52
    send+cancel     abort cancelled -B{cancelled:r} SE TE{aborted:r} FLUSH idle W # A-24
    cancel+steer    abort cancelled SE TE{aborted:r} FLUSH running [S] idle W     # A-12
    cancel+dispose  abort cancelled disposed SE TE{disposed} FLUSH W gone END     # B-47
    dispose+cancel  abort disposed SE TE{disposed} FLUSH W gone END               # B-48
    send+dispose    abort disposed -B{disposed:disposed} SE TE{disposed} FLUSH W gone END
"""

FIRST_CHUNK = """
    cancel          abort cancelled SE TE{aborted:r} FLUSH idle W                 # B-17 B-18
    dispose         abort disposed SE TE{disposed} FLUSH W gone END               # B-44
    send            CH AM SE TE{completed} FLUSH [B] idle W                       # A-05
    steer           CH AM SM(S) SE SS CH CH AM SE TE{completed} FLUSH idle W      # A-10
    inject          CM(c) CH AM SE TE{completed} FLUSH idle W                     # A-16
    cancel+send     abort cancelled SE TE{aborted:r} FLUSH running [B] idle W     # A-52
    send+cancel     abort cancelled -B{cancelled:r} SE TE{aborted:r} FLUSH idle W # A-24
    cancel+steer    abort cancelled SE TE{aborted:r} FLUSH running [S] idle W     # A-12
    cancel+dispose  abort cancelled disposed SE TE{disposed} FLUSH W gone END     # B-47
    dispose+cancel  abort disposed SE TE{disposed} FLUSH W gone END               # B-48
    send+dispose    abort disposed -B{disposed:disposed} SE TE{disposed} FLUSH W gone END
"""

LAST_CHUNK = """
    cancel          abort cancelled SE TE{aborted:r} FLUSH idle W                 # B-19
    dispose         abort disposed SE TE{disposed} FLUSH W gone END               # B-19
    send            AM SE TE{completed} FLUSH [B] idle W                          # A-05
    steer           AM SM(S) SE SS CH CH AM SE TE{completed} FLUSH idle W         # A-10
    inject          CM(c) AM SE TE{completed} FLUSH idle W                        # A-16
    cancel+send     abort cancelled SE TE{aborted:r} FLUSH running [B] idle W     # A-52
    send+cancel     abort cancelled -B{cancelled:r} SE TE{aborted:r} FLUSH idle W # A-24
    cancel+steer    abort cancelled SE TE{aborted:r} FLUSH running [S] idle W     # A-12
    cancel+dispose  abort cancelled disposed SE TE{disposed} FLUSH W gone END     # B-47
    dispose+cancel  abort disposed SE TE{disposed} FLUSH W gone END               # B-48
    send+dispose    abort disposed -B{disposed:disposed} SE TE{disposed} FLUSH W gone END
"""

RESULT = """
    cancel          abort cancelled SE TE{aborted:r} FLUSH idle W                 # B-22
    dispose         abort disposed SE TE{disposed} FLUSH W gone END               # B-44
    send            SE TE{completed} FLUSH [B] idle W                             # A-05
    steer           SM(S) SE SS CH CH AM SE TE{completed} FLUSH idle W            # A-10
    inject          CM(c) SE TE{completed} FLUSH idle W                           # A-16
    cancel+send     abort cancelled SE TE{aborted:r} FLUSH running [B] idle W     # A-52
    send+cancel     abort cancelled -B{cancelled:r} SE TE{aborted:r} FLUSH idle W # A-24
    cancel+steer    abort cancelled SE TE{aborted:r} FLUSH running [S] idle W     # A-12
    cancel+dispose  abort cancelled disposed SE TE{disposed} FLUSH W gone END     # B-47
    dispose+cancel  abort disposed SE TE{disposed} FLUSH W gone END               # B-48
    send+dispose    abort disposed -B{disposed:disposed} SE TE{disposed} FLUSH W gone END
"""


@pytest.mark.at("stream")
@EITHER_TASK
@pytest.mark.clause("B-17", "B-44", "B-47", "B-48", "B-51", "B-58", "A-27", "A-31", "A-33", "B-118")
@pytest.mark.seed("SEED-03", "SEED-27", "SEED-34")
@pytest.mark.parametrize(("name", "trace"), rows(STREAM))
def test_while_the_model_is_silent(name: str, trace: str, *, cooperative: bool) -> None:
    """A stop closes the stream at once and the step stays without an answer."""
    check(asked, "running TS UM(A) SS", name, trace, cooperative=cooperative)


@pytest.mark.at("stream")
@EITHER_TASK
@pytest.mark.clause("B-17", "B-44", "A-26", "A-69", "B-118")
@pytest.mark.parametrize(("name", "trace"), rows(STREAM))
def test_from_inside_the_model(name: str, trace: str, *, cooperative: bool) -> None:
    """A model may stop its own turn, and no cancellation of it strikes what is awaited next."""
    check(in_the_model, "running TS UM(A) SS model", name, trace, cooperative=cooperative)


@pytest.mark.at("stream: chunk")
@EITHER_TASK
@pytest.mark.clause("B-17", "B-18", "B-44", "B-59")
@pytest.mark.seed("SEED-03")
@pytest.mark.parametrize(("name", "trace"), rows(FIRST_CHUNK))
def test_inside_the_notification_of_a_chunk(name: str, trace: str, *, cooperative: bool) -> None:
    """The chunks so far stay, and what comes after the stop is not recorded."""
    check(first_chunk, "running TS UM(A) SS CH", name, trace, cooperative=cooperative)


@pytest.mark.at("stream: chunk")
@EITHER_TASK
@pytest.mark.clause("B-19", "B-44")
@pytest.mark.parametrize(("name", "trace"), rows(LAST_CHUNK))
def test_inside_the_last_chunk(name: str, trace: str, *, cooperative: bool) -> None:
    """A stop in the last chunk still leaves no message of the assistant."""
    check(last_chunk, "running TS UM(A) SS CH CH", name, trace, cooperative=cooperative)


@pytest.mark.at("result: assistant message recorded")
@pytest.mark.clause("B-22", "B-44", "B-63")
@pytest.mark.parametrize(("name", "trace"), rows(RESULT))
def test_inside_the_notification_of_the_reply(name: str, trace: str) -> None:
    """A reply that had ended is recorded, and the turn ends behind its step."""
    check(answered, "running TS UM(A) SS CH CH AM", name, trace)


@EITHER_TASK
@pytest.mark.clause("B-190")
def test_a_cancel_is_heard_in_the_middle_of_a_stream_that_never_waits(*, cooperative: bool) -> None:
    """It comes from a callback that was scheduled at the first chunk."""
    with Scene(cooperative=cooperative) as scene:
        scene.replies = [(TextDelta("x"),) * (10 * CHUNKS_AT_ONCE)]
        scene.at("CH", lambda: asyncio.get_running_loop().call_soon(scene.a.cancel, "r"))
        scene.ask("A")
        scene.settle()
        assert scene.trace().count("CH") == CHUNKS_AT_ONCE
        assert "TE{aborted:r}" in scene.trace()
