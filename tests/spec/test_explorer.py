"""The explorer finds every shape, tells the shortest story of a broken claim, and is not fooled."""

import json

import pytest

from statemachine.__main__ import main
from statemachine.commands import Command, Input
from statemachine.explorer import Counterexample, Exploration, check, explore, leads_to
from statemachine.machine import MACHINE, Machine
from statemachine.properties import Always, Edge, Sometimes, always
from statemachine.shape import Shape, Status
from statemachine.windows import Window
from tests.mutants.planting import change, remove, rows, skip

# A changed number is a changed declaration, and the commit that changes it says why.
SHAPES = 380
ACCEPTED = 2736
REFUSED = 4484


@pytest.fixture(scope="module")
def exploration() -> Exploration:
    """Give the graph of the machine; it is a value."""
    return explore()


def test_the_numbers_of_shapes_and_pairs_are_pinned(exploration: Exploration) -> None:
    """A shape more or less is noticed."""
    assert len(exploration.shapes) == SHAPES
    assert len(exploration.edges) == ACCEPTED
    assert len(exploration.refused) == REFUSED
    assert exploration.illegal == ()
    assert SHAPES * len(Input) == ACCEPTED + REFUSED


def test_every_way_to_a_shape_is_a_run_of_the_machine(exploration: Exploration) -> None:
    """The path to a shape begins where an agent begins, and each step is what the machine does."""
    for shape in exploration.shapes:
        here = MACHINE.initial
        for edge in exploration.path_to(shape):
            assert edge.before == here
            here = MACHINE.decide(here, edge.input).shape
        assert here == shape


def test_shapes_are_found_nearest_first(exploration: Exploration) -> None:
    """No way is longer than the one to a shape that was found later."""
    lengths = [len(exploration.path_to(shape)) for shape in exploration.shapes]
    assert lengths == sorted(lengths)
    assert max(lengths) == 19


def test_progress_is_told_for_every_shape() -> None:
    """Whoever watches sees the search advance to its end."""
    told: list[tuple[int, int]] = []
    explore(progress=lambda visited, found: told.append((visited, found)))
    assert told[-1] == (SHAPES, SHAPES)
    assert len(told) == SHAPES


# -- Claims that are false -------------------------------------------------------------------------


def broken(exploration: Exploration, claim: Always) -> Counterexample:
    """Return the story of a claim that must be broken."""
    verdict = check(exploration, [claim])[-1]
    assert not verdict.holds
    assert isinstance(verdict.why, Counterexample)
    return verdict.why


@always("A-02")
def nobody_ever_runs(edge: Edge) -> bool:
    """No agent is ever `running`."""
    return edge.after.status is not Status.RUNNING


@always("A-27")
def nobody_is_ever_cancelled(edge: Edge) -> bool:
    """No agent is ever `cancelled`."""
    return edge.after.status is not Status.CANCELLED


@always("B-125")
def no_body_is_ever_entered(edge: Edge) -> bool:
    """No tool body is ever entered."""
    return edge.after.window is not Window.TOOL_BODY


@always("A-22", about=lambda edge: edge.before.window is edge.after.window is Window.EXITED)
def nothing_reaches_the_exit(_edge: Edge) -> bool:
    """No input is posted to an agent that has exited."""
    return False


@pytest.mark.parametrize(
    ("claim", "length"),
    [
        (nobody_ever_runs, 2),
        (nobody_is_ever_cancelled, 3),
        (no_body_is_ever_entered, 13),
        (nothing_reaches_the_exit, 2),
    ],
    ids=lambda value: value.name if isinstance(value, Always) else str(value),
)
def test_a_false_claim_is_refuted_by_a_shortest_run(
    exploration: Exploration, claim: Always, length: int
) -> None:
    """The length of the story is the least number of inputs that can break the claim."""
    assert broken(exploration, claim).length == length


def test_a_story_numbers_its_steps_and_says_only_what_changed(exploration: Exploration) -> None:
    """A reader sees inputs, windows and differences, and at the end the broken sentence."""
    assert str(broken(exploration, nobody_is_ever_cancelled)).splitlines() == [
        "nobody_is_ever_cancelled:",
        "  1. send in parked: window parked > woken, inbox empty > queued; QUEUE WAKE",
        "  2. done in woken: window woken > announce-running, status idle > running; "
        "BEGIN ANNOUNCE",
        "  3. cancel in announce-running: status running > cancelled, inbox queued > empty, "
        "marker absent > armed; ANNOUNCE DISCARD ABORT",
        "  but: No agent is ever `cancelled`.",
    ]


def test_a_claim_about_nothing_does_not_hold(exploration: Exploration) -> None:
    """A claim whose premise never occurs says nothing, and is not counted as kept."""

    @always("A-22", about=lambda edge: edge.input is Input.SEND and not edge.commands)
    def empty(_edge: Edge) -> bool:
        """Nothing is said."""
        return True

    verdict = check(exploration, [empty])[-1]
    assert not verdict.holds
    assert verdict.explored == 0
    assert "says nothing" in str(verdict.why)


def test_a_thing_that_never_happens_does_not_sometimes_happen(exploration: Exploration) -> None:
    """A *sometimes* is broken when no edge is a witness, or no run goes on from one."""
    steered_while_idle = Sometimes(
        name="never",
        clauses=("A-11",),
        statement="An idle agent takes steering.",
        witness=lambda e: e.before.status is Status.IDLE and Command.STEER in e.commands,
    )
    back_from_the_exit = Sometimes(
        name="never",
        clauses=("A-32",),
        statement="A disposed agent runs again.",
        witness=lambda e: e.input is Input.DISPOSE,
        then=lambda shape: shape.status is Status.RUNNING,
    )
    verdicts = check(exploration, [steered_while_idle, back_from_the_exit])[2:]
    assert [verdict.holds for verdict in verdicts] == [False, False]
    assert verdicts[0].explored == 0
    assert verdicts[1].explored > 0


# -- Machines that are broken ----------------------------------------------------------------------


def test_an_illegal_move_is_told_as_a_story_and_does_not_stop_the_search() -> None:
    """A table that asks for an impossible move is a finding, not a crash."""
    unarmed = change(rows(Input.CANCEL, Window.STREAM, "running"), skip("arm"))
    exploration = explore(Machine(table=unarmed(MACHINE.table)))
    verdict = next(each for each in check(exploration, []) if each.name == "every_move_is_legal")
    assert exploration.illegal
    assert not verdict.holds
    assert isinstance(verdict.why, Counterexample)
    assert "is no move from" in str(verdict.why)


@pytest.mark.clause("B-132")
def test_an_unanswered_call_is_a_finding() -> None:
    """A table without its unguarded row does not pass."""
    deaf = Machine(table=remove(rows(Input.INJECT, Window.PARKED, "always"))(MACHINE.table))
    verdict = check(explore(deaf), [])[0]
    assert verdict.name == "every_input_from_outside_is_answered"
    assert not verdict.holds
    assert str(verdict.why).splitlines()[1].startswith("  then inject in: idle parked")


# -- Leads-to --------------------------------------------------------------------------------------


def is_parked(shape: Shape) -> bool:
    """Say whether nobody is working."""
    return shape.window is Window.PARKED


def is_exited(shape: Shape) -> bool:
    """Say whether the driver is gone."""
    return shape.window is Window.EXITED


def is_woken(shape: Shape) -> bool:
    """Say whether a driver has been started."""
    return shape.window is Window.WOKEN


def is_past_woken(shape: Shape) -> bool:
    """Say whether the driver has gone on."""
    return not is_woken(shape)


def test_a_fair_driver_leaves_a_window_although_callers_go_on(exploration: Exploration) -> None:
    """The environment may send and cancel forever; the driver still gets its turn."""
    assert leads_to(exploration, is_woken, is_past_woken) is None


def test_an_unfair_driver_may_stay_where_it_is(exploration: Exploration) -> None:
    """Without fairness nothing at all must happen."""
    story = leads_to(exploration, is_woken, is_past_woken, is_fair=False)
    assert story is not None
    assert story.length == 1
    assert str(story).endswith("and here it may stay forever.")


def test_where_the_driver_has_nothing_to_do_a_run_may_end(exploration: Exploration) -> None:
    """A parked agent need never be disposed, so it need never exit."""
    story = leads_to(exploration, is_parked, is_exited)
    assert story is not None
    assert story.length == 0


def test_a_circle_of_the_driver_is_told_once_and_marked(exploration: Exploration) -> None:
    """A run that goes round is told up to the circle, then the circle."""
    story = leads_to(exploration, is_woken, is_parked, excludes=frozenset({Input.DISPOSE}))
    assert story is not None
    assert story.loop_from is not None
    assert story.loop_from <= story.length
    assert "again and again" in str(story)


# -- The command line ------------------------------------------------------------------------------


def test_explore_prints_one_json_object_and_nothing_else(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A program can read the answer."""
    assert main(["explore", "--bound", "1", "--no-worlds", "--json"]) == 0
    printed = capsys.readouterr()
    report = json.loads(printed.out)
    assert printed.err == ""
    assert list(report) == [
        "shapes", "accepted", "refused", "labelled_states", "worlds", "properties", "reachable",
        "seconds",
    ]  # fmt: skip
    assert (report["shapes"], report["accepted"], report["refused"]) == (SHAPES, ACCEPTED, REFUSED)
    assert report["worlds"] == []
    assert all(each["holds"] and each["why"] is None for each in report["properties"])
    assert {"status", "window", "queued", "steering", "marker"} == set(report["reachable"][0])
    assert len(report["reachable"]) == 140


@pytest.mark.slow
def test_explore_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    """A person can read the answer, and the worlds are in it."""
    assert main(["explore", "--bound", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.endswith("steps of the connection world") for line in lines)
    assert lines[0].split() == ["kind", "property", "invariant", "explored", "verdict"]
    assert lines[-1].endswith("hold, 0 are broken")


@pytest.mark.parametrize("arguments", [[], ["explore", "--bound", "0"], ["dance"], ["clause"]])
def test_a_bad_command_is_refused_with_status_2(arguments: list[str]) -> None:
    """Whoever mistypes is told, and a script can tell it from a broken property."""
    with pytest.raises(SystemExit) as raised:
        main(arguments)
    assert raised.value.code == 2


def test_a_clause_is_printed_with_where_it_comes_from(capsys: pytest.CaptureFixture[str]) -> None:
    """An id in a test or a story can be looked up."""
    assert main(["clause", "A-24"]) == 0
    assert capsys.readouterr().out.startswith("A-24  A `cancel` empties")
    assert main(["clause", "A-0"]) == 2
    assert "A-0" in capsys.readouterr().err
