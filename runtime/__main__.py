"""The runtime at the command line: talk to an agent, or learn the form of its log.

    python -m runtime demo                          an agent that echoes each line
    python -m runtime demo --model scripted:FILE    an agent that answers from a script
    python -m runtime schema                        the JSON Schema of a log's records

Exit status: 0 at the end of the input, 130 after Ctrl-C, 2 for a bad command, script or input, 1 if
the output was lost.
"""

import argparse
import asyncio
import io
import json
import logging
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from .demo import INTERRUPTED, InputError, Screen, demo
from .model import EchoModel, Model
from .scripted import ScriptedModel, ScriptError
from .session.schema import record_schema

__all__ = ["main"]

_BAD = 2
_SCRIPTED = "scripted:"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    chosen = _parser().parse_args(arguments)
    return _schema() if chosen.command == "schema" else _demo(chosen.model)


def _schema() -> int:
    try:
        print(json.dumps(record_schema(), indent=2), flush=True)
    except OSError as error:
        _give_up_output(error)
        return 1
    return 0


def _demo(model: Model) -> int:
    if sys.stdin is None or sys.stdout is None or sys.stderr is None:
        return _refuse("it needs standard input, output and error")
    # The chat itself shows the failure of a turn; the log keeps what nobody else would say.
    logging.getLogger("quiesce").setLevel(logging.ERROR)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    is_dim = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    screen = Screen(sys.stdout, sys.stderr, is_dim)
    prompt = "> " if sys.stdin.isatty() else ""
    try:
        status = asyncio.run(demo(model, sys.stdin.fileno(), screen, prompt=prompt))
    except InputError as error:
        return _refuse(str(error))
    except KeyboardInterrupt:
        # It came before the chat listened to it, or after.
        return INTERRUPTED
    if screen.loss is not None:
        _give_up_output(screen.loss)
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m runtime",
        description="An agent runtime on asyncio: talk to an agent, or learn the form of its log.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    talk = commands.add_parser(
        "demo",
        help="chat with an agent, line by line",
        description="Chat with an agent. Each line of standard input that is not blank is one "
        "turn. The answers go to standard output as they come; what the agent is doing (running, "
        "cancelled, idle) and what went wrong goes to standard error.",
        epilog="Ctrl-C cancels the running turn; a second one, or one while the agent is idle, "
        "leaves. Exit status: 0 at the end of the input (Ctrl-D), 130 after Ctrl-C, 2 for a bad "
        "command, script or input, 1 if the output was lost.",
    )
    talk.add_argument(
        "--model",
        type=_model,
        default="echo",
        metavar="echo|scripted:FILE",
        help="what answers: `echo` repeats the line; `scripted:FILE` reads its answers from a file "
        'with one JSON object a line, such as {"when": "^hi", "chunks": ["good ", "day"]}; the '
        "first one whose pattern is found in the line answers (default: echo)",
    )
    commands.add_parser(
        "schema",
        help="print the JSON Schema of a log's records",
        description="Print the JSON Schema (2020-12) that every record of a session's log follows.",
    )
    return parser


def _model(text: str) -> Model:
    """Make the model that an argument names."""
    if text == "echo":
        return EchoModel()
    if not text.startswith(_SCRIPTED) or text == _SCRIPTED:
        raise argparse.ArgumentTypeError(f"{text!r} is neither echo nor scripted:FILE")
    try:
        return ScriptedModel.from_file(text.removeprefix(_SCRIPTED))
    except ScriptError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _refuse(why: str) -> int:
    print(f"python -m runtime: {why}", file=sys.stderr)
    return _BAD


def _give_up_output(loss: OSError) -> None:
    """Let the interpreter flush into nothing at its exit, instead of failing once more."""
    # Whoever closed the pipe, as `head` does, has seen enough and wants no message.
    if not isinstance(loss, BrokenPipeError):
        with suppress(OSError):
            _refuse(f"the output was lost: {loss.strerror}")
    nothing = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nothing, stream.fileno())


if __name__ == "__main__":
    sys.exit(main())
