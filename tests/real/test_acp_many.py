"""A hundred sessions of one connection that stream at once: none is mixed up, none is starved.

Starvation is a matter of order here, not of time: a session is starved if another one is answered,
or even answered twice, before it has shown anything at all.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import Final, TypeAlias

import pytest

from .acp_client import AcpClient, Frame
from .talking import until

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]

SESSIONS: Final = 100
PIECES: Final = 20
ROUNDS: Final = 2

Prompts: TypeAlias = Mapping[str, Sequence[Frame]]
"""The prompts of each session, the first one first."""


@pytest.mark.clause("J-05", "J-24", "J-25", "J-57", "J-70")
@pytest.mark.parametrize(
    ("delay_s", "answers"),
    [
        pytest.param(0.005, 1, id="a model that waits: all turns run at once"),
        pytest.param(0, 2, id="a model that never waits: they take turns"),
    ],
)
def test_a_hundred_sessions_stream_at_once(tmp_path: Path, delay_s: float, answers: int) -> None:
    """All are prompted in one write, and again as soon as they are answered."""
    with AcpClient("--model", _model(tmp_path, delay_s)) as client:
        prompts = _prompts([client.open() for _ in range(SESSIONS)])
        client.send(*(queued[0] for queued in prompts.values()))
        _answer_with_the_next(client, prompts)
        client.finish()
    check_each_session(client.frames, prompts)
    check_nobody_starves(client.frames, prompts, answers)


def test_sessions_that_are_served_one_after_the_other_are_starved(tmp_path: Path) -> None:
    """What the check of order is there for: a client that waits for each session in turn."""
    with AcpClient("--model", _model(tmp_path, 0)) as client:
        prompts = _prompts([client.open() for _ in range(SESSIONS)])
        for session, queued in prompts.items():
            client.send(queued[0])
            _answer_with_the_next(client, {session: queued})
        client.finish()
    check_each_session(client.frames, prompts)
    for answers in range(1, ROUNDS + 1):
        with pytest.raises(AssertionError, match="99 sessions are starved"):
            check_nobody_starves(client.frames, prompts, answers)


def _model(folder: Path, delay_s: float) -> str:
    """Write a script with words of its own for each prompt of each session."""
    lines = [
        {"when": f"^{name}[.]{turn}$", "chunks": _pieces(name, turn), "delay_s": delay_s}
        for name in range(SESSIONS)
        for turn in range(ROUNDS)
    ]
    path = folder / "many.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return f"scripted:{path}"


def _pieces(name: int, turn: int) -> list[str]:
    return [f"{name}.{turn}.{piece} " for piece in range(PIECES)]


def _prompts(sessions: Sequence[str]) -> dict[str, list[Frame]]:
    return {
        session: [_prompt(session, name, turn) for turn in range(ROUNDS)]
        for name, session in enumerate(sessions)
    }


def _prompt(session: str, name: int, turn: int) -> Frame:
    block = {"type": "text", "text": f"{name}.{turn}"}
    params = {"sessionId": session, "prompt": [block]}
    prompt_id = f"{name}.{turn}"
    return {"jsonrpc": "2.0", "id": prompt_id, "method": "session/prompt", "params": params}


def _answer_with_the_next(client: AcpClient, prompts: Prompts) -> None:
    """Send each session its next prompt when one is answered, until all are."""
    following = {one["id"]: two for queued in prompts.values() for one, two in pairwise(queued)}
    unanswered = {each["id"] for queued in prompts.values() for each in queued}
    heard = len(client.frames)

    def observe(within_s: float) -> bool:
        nonlocal heard
        client.listen(within_s)
        answered = [frame["id"] for frame in client.frames[heard:] if "id" in frame]
        heard = len(client.frames)
        unanswered.difference_update(answered)
        client.send(*(following[each] for each in answered if each in following))
        return not unanswered

    until(observe)


# -- The checks ------------------------------------------------------------------------------------


def check_each_session(frames: Sequence[Frame], prompts: Prompts) -> None:
    """Check that a session is told its own pieces, all, in order, each answer behind its turn's.

    Raises:
        AssertionError: it is told anything else.
    """
    told: dict[str, list[str]] = {session: [] for session in prompts}
    owners = _owners(prompts)
    for frame in frames:
        if frame.get("method") == "session/update":
            params = frame["params"]
            told[params["sessionId"]].append(params["update"]["content"]["text"])
        elif frame["id"] in owners:
            assert frame["result"]["stopReason"] == "end_turn"
            told[owners[frame["id"]]].append(frame["id"])
    for name, (session, queued) in enumerate(prompts.items()):
        turns = [[*_pieces(name, turn), each["id"]] for turn, each in enumerate(queued)]
        assert told[session] == list(chain.from_iterable(turns))


def check_nobody_starves(frames: Sequence[Frame], prompts: Prompts, answers: int) -> None:
    """Check that every session has shown something before any is answered so many times.

    Raises:
        AssertionError: a session is starved.
    """
    silent = set(prompts)
    owners = _owners(prompts)
    answered: Counter[str] = Counter()
    for frame in frames:
        if frame.get("method") == "session/update":
            silent.discard(frame["params"]["sessionId"])
        elif frame["id"] in owners:
            session = owners[frame["id"]]
            answered[session] += 1
            if answered[session] == answers:
                assert not silent, f"{len(silent)} sessions are starved"


def _owners(prompts: Prompts) -> dict[str, str]:
    return {each["id"]: session for session, queued in prompts.items() for each in queued}


# -- The checks, checked ---------------------------------------------------------------------------


def _good(prompts: Prompts) -> list[Frame]:
    """Return a conversation in which the sessions show one piece each, in turn."""
    frames = []
    for turn in range(ROUNDS):
        for piece in range(PIECES):
            frames += [
                _update(session, _pieces(name, turn)[piece]) for name, session in enumerate(prompts)
            ]
        frames += [
            {"jsonrpc": "2.0", "id": queued[turn]["id"], "result": {"stopReason": "end_turn"}}
            for queued in prompts.values()
        ]
    return frames


def _update(session: str, text: str) -> Frame:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    params = {"sessionId": session, "update": update}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


def _swapped(frames: list[Frame]) -> None:
    # The first session's first two pieces.
    frames[0], frames[2] = frames[2], frames[0]


def _lost(frames: list[Frame]) -> None:
    del frames[0]


def _repeated(frames: list[Frame]) -> None:
    frames.insert(0, frames[0])


def _to_another(frames: list[Frame]) -> None:
    frames[0]["params"]["sessionId"] = frames[1]["params"]["sessionId"]


def _behind_its_answer(frames: list[Frame]) -> None:
    # The last piece of a turn is two frames before the answer to it.
    answer = 2 * PIECES
    frames[answer - 2], frames[answer] = frames[answer], frames[answer - 2]


def _unanswered(frames: list[Frame]) -> None:
    del frames[-1]


BREAKS: Final = (_swapped, _lost, _repeated, _to_another, _behind_its_answer, _unanswered)


@pytest.mark.parametrize("damage", BREAKS, ids=lambda each: each.__name__.strip("_"))
def test_the_check_of_each_session_sees(damage: Callable[[list[Frame]], None]) -> None:
    """The same conversation passes before it is damaged, and fails afterwards."""
    prompts = _prompts(["a", "b"])
    frames = _good(prompts)
    check_each_session(frames, prompts)
    check_nobody_starves(frames, prompts, 1)
    damage(frames)
    with pytest.raises(AssertionError):
        check_each_session(frames, prompts)
