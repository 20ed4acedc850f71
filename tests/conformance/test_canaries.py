"""Every engine finds the fault that is planted for it, and one that went deaf is noticed."""

from pathlib import Path

import pytest

from statemachine.conformance.stage.schedules import SearchResult
from statemachine.conformance.verdict import canaries
from statemachine.conformance.verdict.canaries import forgetful, plant_canaries, planted_in_parts
from statemachine.conformance.verdict.evidence import Engine, Evidence, PlantedFault
from statemachine.conformance.verdict.fuzzed import Fuzzer

from . import toy


def test_every_engine_finds_its_canary() -> None:
    """On a runtime that is in order every planted fault is found."""
    found = plant_canaries(toy.make_subject)
    assert [each.engine for each in found] == [
        "explorer", "labelled", "worlds", "schedules", "oracles",
    ]  # fmt: skip
    assert [each.story for each in found if not each.is_found] == []


def test_a_suite_finds_the_subject_without_a_cancel() -> None:
    """The suite dies of what the fault is about, not of a crash."""
    (canary,) = fuzzer().canaries()
    assert (canary.engine, canary.is_found) == ("suites", True)
    assert canary.story.startswith("INV-")


def test_a_subject_in_order_is_no_canary() -> None:
    """The suite that found the fault finds nothing without it."""
    evidence = fuzzer().run("fast", Engine.SUITES)
    assert [each.why for each in evidence.checks if each.why] == []
    assert evidence.failures == ()


def test_forgetful_subjects_differ_in_cancel_only() -> None:
    """The fault is planted in one method, and the subject's own class stays as it was."""
    broken = forgetful(toy.make_subject)()
    assert isinstance(broken, toy.ToySubject)
    assert type(broken).cancel is not toy.ToySubject.cancel
    assert type(broken).send is toy.ToySubject.send
    assert type(toy.make_subject()) is toy.ToySubject


def test_a_deaf_engine_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that reports nothing, or fails, has not found its canary."""

    def see_nothing(*_: object, **_options: object) -> Evidence:
        return Evidence()

    def fail(*_: object, **_options: object) -> SearchResult:
        raise RuntimeError("broken")

    monkeypatch.setattr(canaries, "search_scripts", see_nothing)
    monkeypatch.setattr(canaries, "search", fail)
    found = {each.engine: each for each in plant_canaries(toy.make_subject)}
    assert not found["oracles"].is_found
    assert not found["schedules"].is_found
    assert found["schedules"].story == "RuntimeError: broken"
    assert found["explorer"].is_found


def test_parts_without_a_killed_mutant_are_a_missed_canary() -> None:
    """Whoever merges parts expects their teeth among them."""
    killed = PlantedFault(
        id="x", fault="y", layer="runtime", must_die_of="INV-01", died_of="INV-01", is_killed=True
    )
    assert planted_in_parts([killed]).is_found
    assert not planted_in_parts([]).is_found


def fuzzer() -> Fuzzer:
    """Return the suites of the toy."""
    return Fuzzer(
        make_subject=toy.make_subject,
        name="tests.conformance.toy:make_subject",
        is_inside=False,
        candidates=Path("build/verification/candidates"),
    )
