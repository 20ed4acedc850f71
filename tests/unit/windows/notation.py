"""The compact notation in which everything that an agent does is written down.

    running cancelled idle disposed     a status is announced
    TS SS SE                            turn/start, step/start, step/end
    UM(A) SM(S) CM(c)                   a prompt, steering, context with its text
    CH AM TC TR(why)                    a chunk, the assistant's message, a call, its result
    PB(A)                               a prompt that was blocked
    prompt/submit? body                 an interceptor of that seam is asked; a tool's body runs
    TE{completed} TE{aborted:r}         turn/end with its ending and its reason
    -A{cancelled:r}                     A is discarded: cause and reason
    ERR(1) FLUSH FLUSH!                 agent/error of a step; a flush that succeeds, that fails
    abort                               the abort signal fires
    gone END                            agent/disposed; the teardown has resolved
    model                               the model goes on, noted only if the test acts there
    W                                   the `when_idle` waiter has been released
    *                                   here the test acts
    [A,B]                               a whole plain turn on the prompts A and B, and its flush

The model answers `1` and `2`, in two chunks, unless `replies` says otherwise.
"""

import re
from typing import Any, Final

from runtime import Record
from runtime.session.content import text_of

__all__ = ["dropped_token", "head", "is_record", "record_token", "spelled"]

_TURN: Final = "TS {} SS CH CH AM SE TE{{completed}} FLUSH"
_SHORT: Final = {
    "turn/start": "TS",
    "user/message": "UM",
    "steering/message": "SM",
    "context/message": "CM",
    "step/start": "SS",
    "step/end": "SE",
    "assistant/chunk": "CH",
    "assistant/message": "AM",
    "tool/call": "TC",
    "prompt/blocked": "PB",
}


def spelled(notation: str) -> list[str]:
    """Return the tokens of a trace, whole turns written out.

    A released waiter and the resolved teardown belong to nobody's order but their own: `W` is
    moved in front of what the teardown does after the driver's exit.
    """

    def written_out(found: re.Match[str]) -> str:
        return _TURN.format(" ".join(f"UM({each})" for each in found.group(1).split(",")))

    tokens = re.sub(r"\[([^]]*)\]", written_out, notation).split()
    for place in range(1, len(tokens)):
        at = place
        while tokens[at] == "W" and at > 0 and tokens[at - 1] in ("gone", "END"):
            tokens[at - 1], tokens[at] = tokens[at], tokens[at - 1]
            at -= 1
    return tokens


def head(token: str) -> str:
    """Return what a token is a token of."""
    return re.match(r"[a-z]+/[a-z]+|[A-Za-z]+!?|.", token).group()  # type: ignore[union-attr]  # matches always


def is_record(token: str) -> bool:
    """Return whether a token stands for a record."""
    return head(token) in {*_SHORT.values(), "TR", "TE"}


def record_token(record: Record) -> str:
    """Write a record down."""
    data = record.data
    if record.type == "turn/end":
        reason = f":{data['reason']}" if "reason" in data else ""
        return f"TE{{{data['ending']}{reason}}}"
    if record.type == "tool/result":
        why = data.get("execution") or data.get("error", {}).get("code")
        return f"TR({why or ('error' if data['is_error'] else text_of(data['content']))})"
    short = _SHORT[record.type]
    return f"{short}({text_of(data['content'])})" if short in ("UM", "SM", "CM", "PB") else short


def dropped_token(notice: Any) -> str:  # noqa: ANN401  # a notice
    """Write a discard down."""
    return f"-{text_of(notice.content)}{{{notice.cause}:{notice.reason}}}"
