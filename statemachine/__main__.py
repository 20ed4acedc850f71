"""The specification at the command line: explore it, render it, look a clause up.

    python -m statemachine explore          check every property on every reachable shape
    python -m statemachine explore --json   the same as one JSON object
    python -m statemachine render --check   say whether specs/generated is up to date
    python -m statemachine clause A-24      print a clause

Exit status: 0 when everything holds, 1 when something is broken or stale, 2 for a bad command.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence

from attrs import frozen

from .clauses import UnknownClauseError, clause
from .explorer import Exploration, Progress, Verdict, check, check_premises, explore
from .labelled import Labelled, explore_labelled
from .readers import for_a_reader
from .render import NotACheckoutError, generated_folder, pages, stale, write
from .worlds import Examined, examine_worlds

__all__ = ["main"]

_BOUND = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    chosen = _parser().parse_args(arguments)
    match chosen.command:
        case "explore":
            return _explore(chosen.bound, has_worlds=not chosen.no_worlds, is_json=chosen.json)
        case "render":
            return _render(is_check=chosen.check)
        case _:
            return _clause(chosen.id)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m statemachine",
        description="The agent lifecycle as a state machine: explore it, render it, cite it.",
        epilog="Exit status: 0 holds, 1 broken or stale, 2 bad command.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    explored = commands.add_parser(
        "explore",
        help="visit every reachable shape and check every property",
        description="Visit every reachable shape of the machine, alone, beside up to N labelled "
        "messages and among its surroundings, and check every property. A broken one is told as a "
        "shortest story.",
    )
    explored.add_argument(
        "--bound", type=_positive, default=_BOUND, metavar="N",
        help="how many messages are accepted at most (default: %(default)s)",
    )  # fmt: skip
    explored.add_argument(
        "--no-worlds", action="store_true", help="leave out the worlds around the machine"
    )
    explored.add_argument("--json", action="store_true", help="print one JSON object instead")
    rendered = commands.add_parser(
        "render",
        help="write specs/generated from the declaration",
        description="Write the tables and diagrams of specs/generated from the declaration.",
    )
    rendered.add_argument(
        "--check", action="store_true", help="write nothing; name the pages that are stale"
    )
    cited = commands.add_parser(
        "clause", help="print a clause", description="Print one clause of the specification."
    )
    cited.add_argument("id", metavar="ID", help="such as A-24")
    return parser


def _positive(text: str) -> int:
    """Read a whole number above zero."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number above 0")
    return int(text)


# -- Explore ---------------------------------------------------------------------------------------


def _explore(bound: int, *, has_worlds: bool, is_json: bool) -> int:
    started = time.perf_counter()
    exploration = explore(progress=_progress("shapes"))
    verdicts = [*check(exploration), check_premises(exploration)]
    labelled = explore_labelled(exploration, bound, progress=_progress("labelled states"))
    verdicts += labelled.verdicts
    worlds = examine_worlds(exploration, progress=_world_progress) if has_worlds else ()
    verdicts += [verdict for world in worlds for verdict in world.verdicts]
    _clear_progress()
    seconds = round(time.perf_counter() - started, 3)
    found = _Found(exploration=exploration, labelled=labelled, worlds=worlds, seconds=seconds)
    if is_json:
        print(json.dumps(_report(found, verdicts)))
    else:
        print("\n".join(_told(found, verdicts)))
    return 0 if all(verdict.holds for verdict in verdicts) else 1


@frozen(kw_only=True)
class _Found:
    """What the searches found, beside the verdicts."""

    exploration: Exploration
    labelled: Labelled
    worlds: tuple[Examined, ...]
    seconds: float


def _report(found: _Found, verdicts: Sequence[Verdict]) -> dict[str, object]:
    return {
        "shapes": len(found.exploration.shapes),
        "accepted": len(found.exploration.edges),
        "refused": len(found.exploration.refused),
        "labelled_states": found.labelled.states,
        "worlds": [
            {"name": world.name, "states": world.states, "steps": world.steps}
            for world in found.worlds
        ],
        "properties": [
            {
                "name": verdict.name,
                "kind": verdict.kind.value,
                "clauses": list(verdict.claim.clauses),
                "invariant": verdict.claim.invariant,
                "holds": verdict.holds,
                "explored": verdict.explored,
                "why": None if verdict.why is None else str(verdict.why),
            }
            for verdict in verdicts
        ],
        "reachable": _reachable(found.exploration),
        "seconds": found.seconds,
    }


def _reachable(exploration: Exploration) -> list[dict[str, object]]:
    """Return what an independent model can be compared with: the shapes without their flags."""
    seen = dict.fromkeys(
        (
            shape.status.value,
            shape.window.value,
            shape.has_queued,
            shape.has_steering,
            shape.marker.value,
        )
        for shape in exploration.shapes
    )
    columns = ("status", "window", "queued", "steering", "marker")
    return [dict(zip(columns, each, strict=True)) for each in sorted(seen)]


def _told(found: _Found, verdicts: Sequence[Verdict]) -> list[str]:
    exploration, labelled = found.exploration, found.labelled
    width = max(len(verdict.name) for verdict in verdicts)
    lines = [f"{'kind':10}  {'property':{width}}  {'invariant':9}  {'explored':>8}  verdict"]
    lines += [
        f"{verdict.kind.value:10}  {verdict.name:{width}}  {verdict.claim.invariant or '-':9}  "
        f"{verdict.explored:8}  {'holds' if verdict.holds else 'BROKEN'}"
        for verdict in verdicts
    ]
    broken = [verdict for verdict in verdicts if not verdict.holds]
    for verdict in broken:
        cited = " ".join(verdict.claim.clauses)
        lines += ["", f"BROKEN {verdict.name} ({cited})", str(verdict.why)]
    lines += [
        "",
        f"{len(exploration.shapes)} shapes, {len(exploration.edges)} accepted and "
        f"{len(exploration.refused)} refused pairs; {labelled.states} states with up to "
        f"{labelled.bound} labelled messages; {found.seconds} s",
        *(
            f"{world.states} states and {world.steps} steps of the {world.name} world"
            for world in found.worlds
        ),
        f"{len(verdicts) - len(broken)} properties hold, {len(broken)} are broken",
    ]
    return lines


def _progress(what: str) -> Progress | None:
    """Return a progress line for a terminal, and nothing for a pipe."""
    if not sys.stderr.isatty():
        return None

    def show(visited: int, found: int) -> None:
        print(f"\r{visited} of {found} {what}\033[K", end="", file=sys.stderr, flush=True)

    return show


def _world_progress(name: str) -> Progress | None:
    return _progress(f"states of the {name} world")


def _clear_progress() -> None:
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)


# -- Render and clause -----------------------------------------------------------------------------


def _render(*, is_check: bool) -> int:
    try:
        folder = generated_folder()
    except NotACheckoutError as error:
        print(f"render: {error}", file=sys.stderr)
        return 2
    exploration = explore()
    rendered = pages(exploration, explore_labelled(exploration, _BOUND))
    if not is_check:
        for name in write(folder, rendered):
            print(f"wrote {folder / name}")
        return 0
    late = stale(folder, rendered)
    for name in late:
        print(f"stale: {folder / name}; run `python -m statemachine render`", file=sys.stderr)
    return 1 if late else 0


def _clause(clause_id: str) -> int:
    try:
        found = clause(clause_id)
    except UnknownClauseError as error:
        print(f"clause: {error}", file=sys.stderr)
        return 2
    print(f"{found.id}  {found.sentence}")
    print(f"Source: {found.source}")
    print(f"Checked by: {found.check}" if found.check else f"Unchecked: {found.unchecked}")
    return 0


if __name__ == "__main__":
    sys.exit(for_a_reader(main))
