"""The suites as evidence: what was drawn, how often each row was put to the test, what broke.

Theory. Every oracle of a suite judges every call and every callback, so a row has been put to the
test as often as the calls that it speaks of were made: a run without a cancel says nothing about
cancels. These counts are what a check reports as explored. At level `inside` the windows in which a
cancel landed are witnesses, one by one.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from attrs import evolve, frozen

from statemachine.commands import Input
from statemachine.conformance.subject import MakeSubject, Offer
from statemachine.conformance.suite.profiles import PROFILES, Profile, ProfileName
from statemachine.conformance.suite.refinement import Projects
from statemachine.conformance.suite.suite import Level, SuiteFailure, SuiteResult, lifecycle_suite
from statemachine.machine import Decision
from statemachine.shape import Shape
from statemachine.windows import OPEN_WINDOWS

from .canaries import forgetful
from .evidence import Canary, Check, Engine, Evidence, Kind

__all__ = ["JUDGED", "Fuzzer", "Judged"]

Observe = Callable[[object, Shape, Input, Decision], None]
"""What a probe is told to call."""

_CANARY: Final = Profile(name=ProfileName.FAST, examples=60, shrinks=False)


@frozen(kw_only=True)
class Judged:
    """Which calls put a row to the test, and as what."""

    row: str
    kind: Kind
    what: str
    calls: tuple[str, ...]
    clauses: tuple[str, ...]
    needs: Offer | None = None
    """What the subject has to offer, or its oracle sees nothing."""


def _judged(  # noqa: PLR0913, PLR0917  # the columns of a declaration
    row: str, kind: Kind, what: str, calls: str, clauses: str, needs: Offer | None = None
) -> Judged:
    return Judged(
        row=row,
        kind=kind,
        what=what,
        calls=tuple(calls.split()),
        clauses=tuple(clauses.split()),
        needs=needs,
    )


JUDGED: Final = (
    _judged(
        "INV-01", Kind.ALWAYS, "what waits at a cancel is dropped by it",
        "cancel", "A-24 A-55",
    ),
    _judged("INV-02", Kind.ALWAYS, "no turn mixes both sides of a cancel", "cancel", "B-106"),
    _judged(
        "INV-03", Kind.ALWAYS, "a stop is whole when it calls out",
        "cancel dispose", "A-25 A-56 A-58", Offer.LISTEN,
    ),
    _judged(
        "INV-04", Kind.ALWAYS, "a cancel marks its own turn or nothing",
        "cancel", "A-22 B-35 B-103",
    ),
    _judged(
        "INV-05", Kind.ALWAYS, "a stopped turn does nothing more",
        "cancel dispose", "A-28 B-36 B-134",
    ),
    _judged(
        "INV-06", Kind.EVENTUALLY, "turns close, balanced, and the agent rests",
        "cancel", "B-135",
    ),
    _judged("INV-07", Kind.ALWAYS, "waiters are released at rest", "when_idle", "A-30 A-31 A-76"),
    _judged("INV-08", Kind.EVENTUALLY, "every waiter is released", "when_idle", "A-36 A-80"),
    _judged("INV-09", Kind.ALWAYS, "a send leaves the status", "send", "A-02"),
    _judged(
        "INV-09", Kind.ALWAYS, "steering joins a turn or is a send",
        "steer", "A-10 A-11 A-12 A-13",
    ),
    _judged("INV-11", Kind.ALWAYS, "teardown keeps its order", "dispose", "F-15 A-58"),
    _judged("INV-12", Kind.ALWAYS, "disposers see one end", "dispose", "F-17 F-34"),
    _judged("INV-12", Kind.EVENTUALLY, "every dispose ends", "dispose", "F-17 F-32"),
    _judged("INV-21", Kind.ALWAYS, "no message has two fates", "send steer", "A-54"),
    _judged("INV-21", Kind.EVENTUALLY, "every message has a fate", "send steer", "A-54"),
)  # fmt: skip
"""What drawn programs judge, row by row."""


@frozen(kw_only=True)
class Fuzzer:
    """Runs the suites on one subject.

    Attributes:
        name: `package.module:make_subject`, for the files that failures leave.
        candidates: Where those files are written.
    """

    make_subject: MakeSubject
    name: str
    is_inside: bool
    candidates: Path

    def run(self, profile: str, engine: Engine, seconds: float | None = None) -> Evidence:
        """Run every machine at a profile, for a time if one is given."""
        chosen = PROFILES[ProfileName(profile)]
        if seconds is not None:
            chosen = evolve(chosen, within_s=seconds)
        result = lifecycle_suite(
            self.make_subject,
            level=self.level,
            profile=chosen,
            candidates=self.candidates,
            name=f"lifecycle {engine}",
            subject_name=self.name,
        ).run()
        evidence = _evidence(result, engine, self.make_subject().offers)
        if self.is_inside and self.level == "outside":
            why = "the subject has a probe but no `project(cell)`"
            evidence += Evidence(skipped={"refinement": why})
        return evidence

    @property
    def level(self) -> Level:
        """What the suite can look at: refinement needs to know what a cell holds."""
        return (
            "inside" if self.is_inside and isinstance(self.make_subject(), Projects) else "outside"
        )

    def canaries(self) -> tuple[Canary, ...]:
        """Plant a fault for the suites, and one for refinement if it is at work."""
        found = [_suite_canary(self.make_subject)]
        if self.level == "inside":
            found.append(_refinement_canary(self.make_subject))
        return tuple(found)


def _evidence(result: SuiteResult, engine: Engine, offers: frozenset[Offer]) -> Evidence:
    calls: dict[str, int] = {}
    for (_, call), count in result.points.items():
        calls[call] = calls.get(call, 0) + count
    judged = [each for each in JUDGED if each.needs is None or each.needs in offers]
    # A suite that stopped at a failure has not looked at the rest.
    checks = () if result.failures else _checks(judged, calls, result, engine)
    evidence = Evidence(checks=tuple(checks), suites=(_summary(result, engine),))
    for failure in _shortest(result.failures):
        evidence += _failed(failure, result, engine)
    return evidence


def _shortest(failures: Iterable[SuiteFailure]) -> Iterable[SuiteFailure]:
    """Keep one failure for each invariant, the one that is told in the fewest lines."""
    kept: dict[str, SuiteFailure] = {}
    for failure in sorted(failures, key=lambda each: len(each.story.splitlines())):
        kept.setdefault(failure.invariant, failure)
    return kept.values()


def _checks(
    judged: Iterable[Judged], calls: dict[str, int], result: SuiteResult, engine: Engine
) -> list[Check]:
    checks = [
        Check(
            criterion=each.row,
            name=each.what,
            kind=each.kind,
            engine=engine,
            explored=sum(calls.get(call, 0) for call in each.calls),
            clauses=each.clauses,
        )
        for each in judged
    ]
    landed = [result.windows.get((str(window), "cancel"), 0) for window in OPEN_WINDOWS]
    if any(landed):
        checks.append(
            Check(
                criterion="INV-05",
                name=f"a cancel landed in {sum(map(bool, landed))} of {len(landed)} open windows",
                kind=Kind.SOMETIMES,
                engine=engine,
                explored=sum(landed),
                clauses=("B-36", "B-135"),
            )
        )
    return [each for each in checks if each.explored]


def _failed(failure: SuiteFailure, result: SuiteResult, engine: Engine) -> Evidence:
    replay = f"\nreplay: {failure.replay}" if failure.replay else ""
    story = f"{engine}, {failure.machine}\n{failure.story}{replay}"
    if failure.invariant == "crash":
        first = failure.story.splitlines()[0]
        return Evidence(
            failures=(f"{engine}, {failure.machine} could not go on: {first}",), stories=(story,)
        )
    check = Check(
        criterion=failure.invariant if failure.invariant.startswith("INV-") else "",
        name=f"{failure.machine} ({failure.invariant})",
        kind=Kind.ALWAYS,
        engine=engine,
        explored=result.examples,
        why=_seen(failure.story),
    )
    return Evidence(checks=(check,), stories=(story,))


def _seen(story: str) -> str:
    """Return the line of a story that says what was seen."""
    lines = story.splitlines()
    return next((line for line in reversed(lines) if line.startswith("seen:")), lines[0])


def _summary(result: SuiteResult, engine: Engine) -> dict[str, object]:
    is_refined = all(each.invariant != "refinement" for each in result.failures)
    return {
        "name": result.name,
        "engine": engine.value,
        "runs": result.examples,
        "steps": result.steps,
        "decisions": result.decisions,
        "refined": is_refined if result.decisions else None,
        "points": {f"{point} {call}": n for (point, call), n in sorted(result.points.items())},
        "windows": {f"{place} {call}": n for (place, call), n in sorted(result.windows.items())},
        "complete": result.holds,
        "seconds": round(result.seconds, 3),
    }


# -- Canaries --------------------------------------------------------------------------------------


def _suite_canary(make_subject: MakeSubject) -> Canary:
    return _canary(
        "suites", "this subject, but its cancel does nothing", forgetful(make_subject), "outside"
    )


def _refinement_canary(make_subject: MakeSubject) -> Canary:
    return _canary(
        "refinement",
        "the probe tells of decisions without commands",
        _lying(make_subject),
        "inside",
    )


def _canary(engine: str, fault: str, make_subject: MakeSubject, level: Level) -> Canary:
    try:
        suite = lifecycle_suite(make_subject, level=level, profile=_CANARY)
        failures = suite.run().failures
    except Exception as error:
        story = f"{type(error).__name__}: {error}"
        return Canary(engine=engine, fault=fault, is_found=False, story=story)
    found = [each for each in failures if each.invariant != "crash"]
    return Canary(
        engine=engine,
        fault=fault,
        is_found=bool(found),
        story=found[0].invariant
        if found
        else "; ".join(each.story for each in failures) or "it passed",
    )


def _lying(make_subject: MakeSubject) -> MakeSubject:
    """Return a maker of the same subjects whose probe leaves out what was commanded."""

    def make() -> Any:  # noqa: ANN401  # the subject's own class, with one method changed
        subject: Any = make_subject()
        kind = type(subject)

        def probe(self: object, observe: Observe) -> None:
            def lie(cell: object, before: Shape, posted: Input, decision: Decision) -> None:
                observe(cell, before, posted, evolve(decision, commands=()))

            kind.probe(self, lie)

        members = {"__slots__": (), "probe": probe}
        subject.__class__ = type(f"Lying{kind.__name__}", (kind,), members)
        return subject

    return make
