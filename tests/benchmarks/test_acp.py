"""What the bridge costs beside an echo agent on the protocol's SDK, over real pipes.

Where somebody waits for one thing, time is the clock's. How many things an agent does in a second
is taken from the processor time of its process: it has one thread, and nothing else to wait for.
"""

import asyncio
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Final

import pytest

from .editors import Editor
from .measure import Contender, Sample, interleave
from .report import Report

ROUNDS: Final = 8
PROMPTS: Final = 100
SESSIONS: Final = 100
PIECES: Final = 10
IDLE: Final = 1_000
STARTS: Final = 5

_THEIRS: Final = ("tests.benchmarks.echo_agent",)
_OURS: Final = ("runtime", "acp", "--model", "echo")
_PIECE: Final = "a few words "


def test_a_prompt_beside_an_echo_agent(report: Report) -> None:
    """One session, one prompt after the other; of those of a round the median counts."""
    with _agents(_OURS) as agents:
        contenders = _named("first update", agents, _first_update)
        contenders |= _named("answer", agents, _answer)
        samples = _measure(contenders, items=PROMPTS)
    title = "a prompt of one word, from its line written until this is read"
    _table(report, title, samples, ("first update", "answer"))


def test_sessions_beside_an_echo_agent(report: Report) -> None:
    """A hundred are opened in one write, and closed in one; ours are agents with a log."""
    with _agents(_OURS) as agents:
        contenders = _named("opened", agents, _opened) | _named("closed", agents, _closed)
        samples = _measure(contenders, items=SESSIONS)
    _table(report, f"one session of {SESSIONS}", samples, ("opened", "closed"), "sessions")


def test_streams_beside_an_echo_agent(report: Report, tmp_path: Path) -> None:
    """Both say the same: theirs each block of the prompt, ours what stands in a script."""
    script = tmp_path / "stream.jsonl"
    script.write_text(json.dumps({"chunks": [_PIECE] * PIECES}) + "\n", encoding="utf-8")
    with _agents(("runtime", "acp", "--model", f"scripted:{script}")) as agents:
        samples = _measure(_named("update", agents, _streamed), items=SESSIONS * PIECES)
    title = f"one update of {SESSIONS} sessions that stream {PIECES} each at once, answers included"
    _table(report, title, samples, ("update",), "updates")


@pytest.mark.timeout(300)
def test_a_start_beside_an_echo_agent(report: Report) -> None:
    """From the start of the process until `initialize` is answered; both import the SDK."""
    contenders = {"start, theirs": _started(_THEIRS), "start, ours": _started(_OURS)}
    _table(report, "a start", _measure(contenders, items=1, rounds=STARTS), ("start",))


@pytest.mark.skipif(sys.platform != "linux", reason="where the system tells it, it tells it so")
def test_the_memory_of_idle_sessions_beside_an_echo_agent(report: Report) -> None:
    """Theirs keeps an id of each; ours an agent, its log and what was said."""
    with _agents(_OURS) as agents:
        weights = {name: _weigh(editor) for name, editor in agents.items()}
    rows = []
    for place, kind in enumerate(("idle", "idle after a prompt")):
        theirs = weights["theirs"][place]
        for name, weight in weights.items():
            report.numbers[f"acp, {kind}, {name}, bytes"] = weight[place]
            note = f"{weight[place]:,.0f} bytes"
            rows.append((f"{kind}, {name}", f"{weight[place] / theirs:.2f} x", note))
    report.table(f"resident memory of one session among {IDLE:,}", rows)


# -- What is compared ------------------------------------------------------------------------------


@contextmanager
def _agents(ours: tuple[str, ...]) -> Iterator[dict[str, Editor]]:
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(Editor.start(*module))
            for name, module in (("theirs", _THEIRS), ("ours", ours))
        }


def _named(
    what: str, agents: Mapping[str, Editor], make: Callable[[Editor], Contender]
) -> dict[str, Contender]:
    return {f"{what}, {name}": make(editor) for name, editor in agents.items()}


def _first_update(editor: Editor) -> Contender:
    async def prompted(items: int) -> int:
        return _median_prompt(editor, items, 0)

    return prompted


def _answer(editor: Editor) -> Contender:
    async def prompted(items: int) -> int:
        return _median_prompt(editor, items, 1)

    return prompted


def _median_prompt(editor: Editor, items: int, place: int) -> int:
    (session,) = editor.open(1)
    times = [editor.timed_prompt(session, "hello")[place] for _ in range(items)]
    editor.close([session])
    return round(median(times) * items)


def _opened(editor: Editor) -> Contender:
    async def opened(items: int) -> int:
        began = editor.worked_ns()
        sessions = editor.open(items)
        took = editor.worked_ns() - began
        editor.close(sessions)
        return took

    return opened


def _closed(editor: Editor) -> Contender:
    async def closed(items: int) -> int:
        sessions = editor.open(items)
        began = editor.worked_ns()
        editor.close(sessions)
        return editor.worked_ns() - began

    return closed


def _streamed(editor: Editor) -> Contender:
    sessions = editor.open(SESSIONS)

    async def streamed(items: int) -> int:
        prompts = [editor.prompt(each, *[_PIECE] * PIECES) for each in sessions]
        began = editor.worked_ns()
        said = editor.ask(prompts)
        took = editor.worked_ns() - began
        assert len(said) == items + SESSIONS
        return took

    return streamed


def _started(module: tuple[str, ...]) -> Contender:
    async def started(_items: int) -> int:
        began = time.perf_counter_ns()
        with Editor.start(*module):
            return time.perf_counter_ns() - began

    return started


def _weigh(editor: Editor) -> tuple[float, float]:
    """Return what a session adds to the process, and what it adds once it was prompted."""
    _open_many(editor)
    before = editor.resident_bytes()
    batches = _open_many(editor)
    opened = editor.resident_bytes()
    for batch in batches:
        editor.ask([editor.prompt(each, "hello") for each in batch])
    used = editor.resident_bytes()
    return (opened - before) / IDLE, (used - before) / IDLE


def _open_many(editor: Editor) -> list[list[str]]:
    return [editor.open(SESSIONS) for _ in range(IDLE // SESSIONS)]


# -- What is told ----------------------------------------------------------------------------------


def _measure(
    contenders: Mapping[str, Contender], *, items: int, rounds: int = ROUNDS
) -> dict[str, Sample]:
    # Once before it counts: now everything is compiled, and the agents are warm.
    asyncio.run(interleave(contenders, rounds=1, items=items))
    return asyncio.run(interleave(contenders, rounds=rounds, items=items))


def _table(
    report: Report,
    title: str,
    samples: Mapping[str, Sample],
    kinds: tuple[str, ...],
    things: str = "",
) -> None:
    rows = []
    for kind in kinds:
        theirs = samples[f"{kind}, theirs"]
        for name in (f"{kind}, theirs", f"{kind}, ours"):
            sample = samples[name]
            note = f"best {sample.best_us:,.0f} us, median {sample.median_us:,.0f}"
            if things:
                note += f"; {1_000_000 / sample.best_us:,.0f} {things}/s"
            rows.append((name, f"{sample.ratio_to(theirs):.2f} x", note))
            report.numbers[f"acp, {name}, us"] = sample.best_us
            report.numbers[f"acp, {name}, ratio"] = sample.ratio_to(theirs)
    report.table(title, rows)
