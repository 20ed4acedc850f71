"""The verdict at the command line.

    python -m statemachine.conformance verify --subject package.module:make_subject
    python -m statemachine.conformance criteria      print what is promised, row by row
    python -m statemachine.conformance replay ...    run one schedule of a story again

Exit status: 0 everything that could be checked holds, 1 an invariant is broken, 2 the run could not
be made or cannot be relied on, 3 with --strict: something could not be checked.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from statemachine.conformance.verdict.replaying import replay_script
from statemachine.conformance.verdict.table import criteria_table
from statemachine.conformance.verdict.verdict import Exit
from statemachine.readers import for_a_reader

__all__ = ["main"]

_REPORT = Path("build/verification/report.json")
_EXTRA = "pip install 'quiesce[verify]'"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    chosen = _parser().parse_args(arguments)
    if chosen.command == "criteria":
        print("\n".join(criteria_table()))
        return Exit.HOLDS
    if chosen.command == "replay":
        return replay_script(chosen.subject, chosen.script, chosen.schedule)
    return _verify(chosen)


def _verify(chosen: argparse.Namespace) -> int:
    # The extras are only asked for by the verb that needs them, so that help never does.
    try:
        import hypothesis  # noqa: F401, PLC0415  # present or not is the question
    except ModuleNotFoundError as error:
        print(f"verify: {error.name} is missing; {_EXTRA}", file=sys.stderr)
        return Exit.UNRELIABLE
    from statemachine.conformance.verdict.run import Options, verify  # noqa: PLC0415  # it reads the extras

    return verify(
        Options(
            subject=chosen.subject,
            merge=chosen.merge,
            level=chosen.level,
            seconds=chosen.seconds,
            profile=chosen.profile,
            report=chosen.report,
            is_strict=chosen.strict,
            is_quiet=chosen.quiet,
        )
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m statemachine.conformance",
        description="Prove the lifecycle of an agent runtime, yours or ours, row by row.",
        epilog="Exit status: 0 holds, 1 broken, 2 could not run or unreliable, 3 with --strict: "
        "something is unchecked.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_verify(commands)
    _add_replay(commands)
    commands.add_parser(
        "criteria",
        help="print what is promised",
        description="Print every row of the verdict: its statement, kinds, clauses, assumptions.",
    )
    return parser


def _add_verify(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "verify",
        help="examine a runtime and give a verdict on every row",
        description="Explore the specification, run the suites, a random hunt and the bounded "
        "schedules on the subject, and print a verdict on every row. Needs the extra `verify`.",
    )
    command.add_argument(
        "--subject", required=True, metavar="MODULE:NAME",
        help="the function that makes a subject, such as package.module:make_subject",
    )  # fmt: skip
    command.add_argument(
        "--merge",
        type=Path,
        metavar="DIR",
        help="also read the parts that other commands left here",
    )
    command.add_argument(
        "--level", choices=("outside", "inside", "auto"), default="auto",
        help="inside also compares every decision with the machine; auto asks the subject "
        "(default: %(default)s)",
    )  # fmt: skip
    command.add_argument(
        "--seconds", type=_seconds, default=60.0, metavar="N",
        help="how long the random hunt lasts; 0 leaves it out (default: %(default)g)",
    )  # fmt: skip
    command.add_argument(
        "--profile", choices=("fast", "ci", "night"), default="ci",
        help="how much the suites draw (default: %(default)s)",
    )  # fmt: skip
    command.add_argument(
        "--report", type=Path, default=_REPORT, metavar="PATH",
        help="where the report goes, as JSON (default: %(default)s)",
    )  # fmt: skip
    command.add_argument("--strict", action="store_true", help="exit 3 if a row is unchecked")
    command.add_argument("--quiet", action="store_true", help="show no progress")


def _add_replay(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "replay",
        help="run one schedule of a story again",
        description="Run one schedule of a built-in script again and tell how it fails. The story "
        "of a failed search ends with the whole command.",
    )
    command.add_argument("--subject", required=True, metavar="MODULE:NAME", help="as in verify")
    command.add_argument("--script", required=True, metavar="NAME", help="the name of the script")
    command.add_argument(
        "schedule", metavar="SCHEDULE", help="such as 3:1,17:2, or fifo for no deviation"
    )


def _seconds(text: str) -> float:
    """Read a number of seconds, zero or more."""
    try:
        seconds = float(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds") from error
    if not 0 <= seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds of at least 0")
    return seconds


if __name__ == "__main__":
    sys.exit(for_a_reader(main))
