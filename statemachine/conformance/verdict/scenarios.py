"""A handful of short scripts that any subject can play, searched schedule by schedule.

They need nothing but the protocol, so they judge strangers as well. Each is searched completely up
to a number of deviations from first in, first out; what a failure tells is a shortest one.
"""

import re
from collections.abc import Callable, Iterable

from attrs import frozen

from statemachine.conformance.stage.schedules import (
    Action,
    Actor,
    FailureKind,
    Scenario,
    SearchResult,
    search,
)
from statemachine.conformance.stage.stage import Stage
from statemachine.conformance.subject import Listens, MakeSubject, Offer

from .evidence import Check, Engine, Evidence, Kind
from .outside import BrokenRowError, Outsider, Tally

__all__ = ["FIRST_IN_FIRST_OUT", "JUDGEMENTS", "SCRIPTS", "Judgement", "Script", "search_scripts"]

FIRST_IN_FIRST_OUT = "fifo"
"""The schedule without a deviation, as the command line writes it."""
_COMMAND = "python -m statemachine.conformance replay"

Act = Callable[[Outsider], object]


@frozen(kw_only=True)
class Script:
    """A scenario for any subject with these offers."""

    name: str
    lines: tuple[tuple[str, tuple[Act, ...]], ...]
    """Who does what, in order."""
    needs: frozenset[Offer] = frozenset()
    prepare: Act | None = None
    check: Act | None = None

    def on(self, make_subject: MakeSubject, tally: Tally) -> Scenario[Outsider]:
        """Return the scenario for one subject."""

        def setup(stage: Stage) -> Outsider:
            outsider = Outsider.open(stage, make_subject, tally)
            if self.prepare is not None:
                self.prepare(outsider)
            return outsider

        def judge(outsider: Outsider) -> None:
            if self.check is not None:
                self.check(outsider)
            outsider.finish()

        return Scenario(
            name=self.name,
            actors=tuple(Actor(name=name, actions=actions) for name, actions in self.lines),
            setup=setup,
            check=judge,
            after_each=Outsider.after_each,
        )


# -- Acts ------------------------------------------------------------------------------------------


def _act(label: str, act: Act) -> Act:
    return Action(label=label, act=act)


def _send(text: str) -> Act:
    return _act(f"send {text!r}", lambda who: who.send(text))


def _steer(text: str) -> Act:
    return _act(f"steer {text!r}", lambda who: who.steer(text))


def _cancel(reason: str | None = None) -> Act:
    label = "cancel" if reason is None else f"cancel {reason!r}"
    return _act(label, lambda who: who.cancel(reason))


_DISPOSE = _act("dispose", Outsider.dispose)
_WAIT = _act("when_idle", Outsider.wait)


def _send_from_abort(who: Outsider) -> None:
    """Send from the first foreign code that a cancel runs; that message must survive."""
    assert isinstance(who.subject, Listens)
    sent: list[str] = []

    def call(_agent: str) -> None:
        if not sent:
            sent.append("sent from abort")
            who.send("sent from abort")

    who.subject.on("abort", call)


def _survives(who: Outsider) -> None:
    """Judge that what the abort callback sent was not swallowed by the cancel around it."""
    if not any(said.text == "sent from abort" for said in who.said):
        return
    dropped = [each for each in who.look().discards if each.text == "sent from abort"]
    who.require("INV-03", "survives", not dropped, "a cancel took what came after it")


def _sibling(who: Outsider) -> None:
    who.subject.create("b", "t")


def _refuse_twins(who: Outsider) -> None:
    """Try to make a second agent with an id that is taken."""
    for agent, session in (("a", "u"), ("c", "s")):
        if who.disposals:
            return
        try:
            who.subject.create(agent, session)
        except Exception:  # whatever the subject refuses with
            who.tally["INV-16 twins"] += 1
        else:
            raise BrokenRowError("INV-16", f"a second agent {agent!r} on {session!r} was made")


def _sibling_ran(who: Outsider) -> None:
    seen = who.subject.observe("b")
    texts = [each.text for each in seen.log if each.type == "user/message"]
    who.require("INV-10", "sibling", texts == ["for b"], f"the sibling has {texts}")
    who.require("INV-10", "sibling", seen.status == "idle", f"the sibling is {seen.status}")


SCRIPTS = (
    Script(
        name="two prompts and a cancel",
        lines=(("user", (_send("one"), _send("two"))), ("stopper", (_cancel("stop"),))),
    ),
    Script(
        name="a cancel and what replaces it",
        lines=(("user", (_send("old"), _cancel(), _send("new"))), ("waiter", (_WAIT,))),
    ),
    Script(
        name="two cancels of one turn",
        lines=(("user", (_send("one"),)), ("stopper", (_cancel("first"), _cancel("second")))),
    ),
    Script(
        name="two disposers and a waiter",
        lines=(
            ("user", (_send("one"), _WAIT)),
            ("owner", (_DISPOSE,)),
            ("other", (_DISPOSE,)),
        ),
    ),
    Script(
        name="siblings and twins",
        lines=(
            ("user", (_send("one"),)),
            (
                "sibling",
                (_act("send to b", lambda who: who.subject.send("b", "for b")),),
            ),
            ("owner", (_act("create twins", _refuse_twins), _DISPOSE)),
        ),
        prepare=_sibling,
        check=_sibling_ran,
    ),
    Script(
        name="steering and a cancel",
        lines=(("user", (_send("one"), _steer("more"))), ("stopper", (_cancel("stop"),))),
        needs=frozenset({Offer.STEER}),
    ),
    Script(
        name="a message sent by an abort callback",
        lines=(("user", (_send("one"),)), ("stopper", (_cancel("stop"),))),
        needs=frozenset({Offer.LISTEN}),
        prepare=_send_from_abort,
        check=_survives,
    ),
)


# -- From searches to checks -----------------------------------------------------------------------


@frozen(kw_only=True)
class Judgement:
    """What one entry of the tally is evidence for."""

    entry: str
    kind: Kind
    what: str
    clauses: tuple[str, ...] = ()

    @property
    def row(self) -> str:
        """Return the row that it speaks for."""
        return self.entry.partition(" ")[0]


def _judgement(entry: str, kind: Kind, what: str, clauses: str) -> Judgement:
    return Judgement(entry=entry, kind=kind, what=what, clauses=tuple(clauses.split()))


JUDGEMENTS = (
    _judgement("INV-01 unseen", Kind.ALWAYS, "stopped messages never reach the model", "A-24 B-02"),
    _judgement("INV-01 discarded", Kind.SOMETIMES, "a waiting message is discarded", "A-24 A-55"),
    _judgement("INV-02 turn", Kind.ALWAYS, "turns hold messages of one side", "B-106"),
    _judgement("INV-02 replaced", Kind.SOMETIMES, "a turn runs after a cancel", "B-106 A-52"),
    _judgement("INV-03 survives", Kind.ALWAYS, "what an abort callback sends survives", "A-25"),
    _judgement("INV-04 nothing", Kind.ALWAYS, "a cancel of nothing is not seen", "A-22 B-01"),
    _judgement("INV-04 own turn", Kind.ALWAYS, "no turn is aborted without a cancel", "B-35 B-103"),
    _judgement("INV-05 asked", Kind.ALWAYS, "no model call in a stopped turn", "B-134"),
    _judgement("INV-05 no step", Kind.ALWAYS, "no step in a stopped turn", "B-134"),
    _judgement("INV-05 ending", Kind.SOMETIMES, "a cancelled turn says why", "A-28 B-36"),
    _judgement("INV-06 balanced", Kind.EVENTUALLY, "every turn closes, balanced", "B-135"),
    _judgement("INV-06 rest", Kind.EVENTUALLY, "the agent comes to rest", "B-135 B-136"),
    _judgement("INV-07 rest", Kind.ALWAYS, "waiters are released at rest", "A-76"),
    _judgement("INV-08 released", Kind.EVENTUALLY, "every waiter is released", "A-80"),
    _judgement("INV-09 send", Kind.ALWAYS, "a send leaves the status", "A-02"),
    _judgement("INV-09 default reason", Kind.ALWAYS, "the default reason is `cancelled`", "A-21"),
    _judgement("INV-09 steered", Kind.SOMETIMES, "a running turn is steered", "A-10"),
    _judgement("INV-09 steer running", Kind.ALWAYS, "steering joins its own turn", "A-10 A-13"),
    _judgement("INV-09 steer idle", Kind.ALWAYS, "steering without a turn is sending", "A-11"),
    _judgement("INV-10 sibling", Kind.ALWAYS, "a sibling goes on", "F-21"),
    _judgement("INV-11 status", Kind.ALWAYS, "dispose acts at the call", "A-57"),
    _judgement("INV-11 closed", Kind.ALWAYS, "dispose ends after the closing records", "B-51 F-15"),
    _judgement("INV-12 gone", Kind.ALWAYS, "after dispose nothing is left", "F-22 F-35"),
    _judgement("INV-12 ended", Kind.EVENTUALLY, "every disposer is answered", "F-17 F-34"),
    _judgement("INV-16 twins", Kind.ALWAYS, "a taken id is refused", "F-05 F-06"),
    _judgement("INV-21 one", Kind.ALWAYS, "no message has two fates", "A-54"),
    _judgement("INV-21 fate", Kind.EVENTUALLY, "every message has a fate", "A-54"),
)  # fmt: skip
"""What the scripts judge, row by row."""


def search_scripts(  # noqa: PLR0913  # each is named at the call
    make_subject: MakeSubject,
    *,
    offers: frozenset[Offer],
    deviations: int,
    scripts: Iterable[Script] = SCRIPTS,
    subject_name: str = "MODULE:NAME",
    progress: Callable[[str], object] = lambda _: None,
) -> Evidence:
    """Search every script that the subject can play, and return what that shows."""
    tally: Tally = Tally()
    evidence = Evidence()
    suites = []
    for script in scripts:
        if not script.needs <= offers:
            missing = ", ".join(sorted(script.needs - offers))
            evidence += Evidence(
                skipped={f"schedules of `{script.name}`": f"no offer of {missing}"}
            )
            continue
        counted: Tally = Tally()
        result = search(script.on(make_subject, counted), deviations=deviations)
        progress(f"{script.name}: {result.runs} schedules, {result.seconds:.1f} s")
        suites.append(_summary(script, result))
        if result.holds:
            tally += counted
        else:
            replay = f"{_COMMAND} --subject {subject_name} --script '{script.name}' "
            evidence += _failed(result, replay)
    return evidence + Evidence(checks=_checks(tally), suites=tuple(suites))


def _checks(tally: Tally) -> tuple[Check, ...]:
    return tuple(
        Check(
            criterion=each.row,
            name=each.what,
            kind=each.kind,
            engine=Engine.SCHEDULES,
            explored=tally[each.entry],
            clauses=each.clauses,
        )
        for each in JUDGEMENTS
        if tally[each.entry]
    )


def _failed(result: SearchResult, command: str) -> Evidence:
    """Tell a search that did not end well; the row that it broke, if it names one."""
    failure = result.failure
    if failure is None:
        first = result.first_too_long or "no deviation"
        cut = f"{result.too_long} runs were cut off, the first at {first}"
        return Evidence(failures=(f"`{result.scenario}` could not be searched: {cut}",))
    story = f"{failure}\n{command}{failure.replay or FIRST_IN_FIRST_OUT}"
    named = re.search(r"INV-\d\d", failure.text)
    if named is None or failure.kind is FailureKind.CRASHED:
        first = failure.text.splitlines()[0]
        return Evidence(
            failures=(f"`{result.scenario}` {failure.kind}: {first}",), stories=(story,)
        )
    text = failure.text.partition(": ")[2].removeprefix(f"{named[0]}: ")
    check = Check(
        criterion=named[0],
        name=result.scenario,
        kind=Kind.ALWAYS,
        engine=Engine.SCHEDULES,
        explored=result.runs,
        why=text,
    )
    return Evidence(checks=(check,), stories=(story,))


def _summary(script: Script, result: SearchResult) -> dict[str, object]:
    return {
        "name": result.scenario,
        "engine": Engine.SCHEDULES.value,
        "actors": len(script.lines),
        "deviations": result.deviations,
        "runs": result.runs,
        "complete": result.complete,
        "seconds": round(result.seconds, 3),
    }
