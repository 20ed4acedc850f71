"""The runtime at the command line: talk to an agent, look at what was said.

    python -m runtime demo                          an agent that echoes each line
    python -m runtime demo --model scripted:FILE    an agent that answers from a script
    python -m runtime sessions list                 the stored sessions; see `sessions --help`
    python -m runtime schema                        the JSON Schema of a session's lines
    python -m runtime acp                           serve an editor; see `acp --help`

Exit status: 0 when it is done, 130 after Ctrl-C, 2 for a bad command, script, input or store, 1 if
the output was lost, or if `sessions verify` found damage.
"""

import argparse
import asyncio
import io
import json
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from .acp.command import describe_acp, run_acp
from .demo import INTERRUPTED, OUTPUT_LOST, InputError, Screen, demo
from .model import EchoModel, Model
from .scripted import ScriptedModel, ScriptError
from .session.schema import record_schema
from .sessions_command import describe_sessions, sessions

__all__ = ["main"]

_BAD = 2
_SCRIPTED = "scripted:"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    chosen = _parser().parse_args(arguments)
    if sys.stdin is None or sys.stdout is None or sys.stderr is None:
        return _refuse(chosen.command, "it needs standard input, output and error")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if chosen.command == "acp":
        return run_acp(chosen)
    with _only_errors_logged():
        match chosen.command:
            case "sessions":
                return _sessions(chosen)
            case "schema":
                return _schema(chosen)
            case _:
                return _demo(chosen)


@contextmanager
def _only_errors_logged() -> Iterator[None]:
    """Log only what nobody else would say: the command itself shows the failure of a turn."""
    log = logging.getLogger("quiesce")
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)


def _schema(chosen: argparse.Namespace) -> int:
    try:
        print(json.dumps(record_schema(), indent=2), flush=True)
    except OSError as loss:
        _give_up_output(chosen.command, loss)
        return OUTPUT_LOST
    return 0


def _sessions(chosen: argparse.Namespace) -> int:
    try:
        status = sessions(chosen, sys.stdout, sys.stderr)
        sys.stdout.flush()
    except OSError as loss:
        _give_up_output(chosen.command, loss)
        return OUTPUT_LOST
    except KeyboardInterrupt:
        return INTERRUPTED
    return status


def _demo(chosen: argparse.Namespace) -> int:
    is_dim = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    screen = Screen(sys.stdout, sys.stderr, is_dim)
    prompt = "> " if sys.stdin.isatty() else ""
    try:
        source, has_bash = sys.stdin.fileno(), chosen.tools == "bash"
        status = asyncio.run(demo(chosen.model, source, screen, prompt=prompt, has_bash=has_bash))
    except InputError as error:
        return _refuse(chosen.command, str(error))
    except KeyboardInterrupt:
        # It came before the chat listened to it, or after.
        return INTERRUPTED
    if screen.loss is not None:
        _give_up_output(chosen.command, screen.loss)
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m runtime", description="An agent runtime on asyncio."
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
    talk.add_argument(
        "--tools",
        choices=["bash"],
        help="what the model may use: `bash` runs commands on this machine. Then a line `/reload` "
        "reloads the tools, and `/session NAME` goes on in another session",
    )
    describe_sessions(
        commands.add_parser(
            "sessions",
            help="list, show, verify, repair and export stored sessions",
            description="Look at stored sessions. Only `repair` writes.",
            epilog="Exit status: 0 when it is done, 1 if `verify` found damage or the output was "
            "lost, 2 for a bad command, a session that is not there, or a store that cannot be "
            "used.",
        )
    )
    commands.add_parser(
        "schema",
        help="print the JSON Schema of a session's lines",
        description="Print the JSON Schema (2020-12) of what stands in a session's file line by "
        "line: its header and its records.",
    )
    describe_acp(commands.add_parser("acp", help="serve an editor through standard input"))
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


def _refuse(command: str, why: str) -> int:
    print(f"python -m runtime {command}: {why}", file=sys.stderr)
    return _BAD


def _give_up_output(command: str, loss: OSError) -> None:
    """Let the interpreter flush into nothing at its exit, instead of failing once more."""
    # Whoever closed the pipe, as `head` does, has seen enough and wants no message.
    if not isinstance(loss, BrokenPipeError):
        with suppress(OSError):
            _refuse(command, f"the output was lost: {loss.strerror}")
    nothing = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nothing, stream.fileno())


if __name__ == "__main__":
    sys.exit(main())
