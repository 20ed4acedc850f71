"""The random suite of the bridge, and that a fault planted in the bridge dies of it."""
# faults are planted inside

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import pytest

from runtime.acp.answers import refusal
from runtime.acp.bridge import Bridge
from runtime.acp.prompts import Prompt
from runtime.acp.sessions import OpenSession
from runtime.application import AGENTS, AppContext
from runtime.containment import attempt_awaited
from runtime.errors import LifecycleError
from runtime.ports import yield_once
from runtime.registry import AgentRegistry
from runtime.teardown import Teardown
from runtime.turn import Fate
from statemachine.conformance.verdict.parts import merge_parts
from tests.conformance.acp_clients import Count
from tests.conformance.acp_suite import acp_suite
from tests.conformance.acp_world import BrokenPromiseError

Plant = Callable[[pytest.MonkeyPatch], None]


@pytest.mark.clause("J-13", "J-14", "J-19", "J-21", "J-22", "J-23", "J-28", "J-33", "J-34")
@pytest.mark.clause("J-36", "J-38", "J-40", "J-48", "J-54", "J-57", "J-58", "J-59")
@pytest.mark.clause("F-55", "F-56")
@pytest.mark.seed("SEED-45", "SEED-46", "SEED-47", "SEED-48", "SEED-49", "SEED-50")
def test_clients_are_told_the_truth_in_every_interleaving(parts_directory: Path | None) -> None:
    """Whatever is created, loaded, prompted, cancelled, closed and left, in any order."""
    why, count = None, Count()
    try:
        acp_suite(count=count, examples=250)
    except BrokenPromiseError as error:
        why = str(error)
        raise
    finally:
        if parts_directory is not None:
            (parts_directory / "acp.json").write_text(part(count, why), encoding="utf-8")
    assert count.loads > 0
    assert count.cancelled > 0
    assert count.gone > count.programs


def part(count: Count, why: str | None) -> str:
    """Tell the verdict what was looked at."""
    claims = (
        ("INV-14", "always", "nothing of a client that went remains or appears later", count.gone),
        ("INV-14", "eventually", "the end of a client comes", count.gone),
        ("INV-15", "always", "one answer, behind its updates, as it was", count.answers),
        ("INV-15", "eventually", "each prompt is answered", count.answers),
    )
    rows = [
        {
            "id": criterion,
            "checks": [
                {
                    "name": f"clients: {name}",
                    "kind": kind,
                    "engine": "suites",
                    "explored": n,
                    "why": why,
                }
            ],
        }
        for criterion, kind, name, n in claims
    ]
    suite = {"name": "acp", "examples": count.programs, "judged": count.judged}
    return json.dumps({"criteria": rows, "suites": [suite]}, indent=2)


def test_the_part_of_the_verdict_can_be_read(tmp_path: Path) -> None:
    """What is written has the form that the verdict reads."""
    (tmp_path / "acp.json").write_text(part(Count(gone=3, answers=4), "no"), encoding="utf-8")
    checks = merge_parts(tmp_path).checks
    assert {(each.criterion, each.explored, each.why) for each in checks} == {
        ("INV-14", 3, "no"),
        ("INV-15", 4, "no"),
    }
    assert [each.kind.value for each in checks] == ["always", "eventually"] * 2


# -- Planted faults --------------------------------------------------------------------------------


def _a_cancel_is_remembered_by_the_session(patch: pytest.MonkeyPatch) -> None:
    plain_cancel, plain_offer = OpenSession.cancel, OpenSession.offer
    flagged: set[str] = set()

    def cancel(self: OpenSession) -> None:
        flagged.add(self.id)
        plain_cancel(self)

    def offer(self: OpenSession, text: str) -> Prompt:
        prompt = plain_offer(self, text)
        if self.id in flagged:
            prompt.is_cancelled = True
        return prompt

    patch.setattr(OpenSession, "cancel", cancel)
    patch.setattr(OpenSession, "offer", offer)


def _a_prompt_waits_before_it_is_registered(patch: pytest.MonkeyPatch) -> None:
    plain = Bridge.prompt

    async def prompt(self: Bridge, prompt: list[Any], session_id: str, **_: object) -> Any:  # noqa: ANN401  # as the plain one
        await yield_once()
        return await plain(self, prompt, session_id)

    patch.setattr(Bridge, "prompt", prompt)


def _a_cancel_is_answered_before_its_turn_has_closed(patch: pytest.MonkeyPatch) -> None:
    plain = OpenSession.cancel

    def cancel(self: OpenSession) -> None:
        for prompt in self._prompts:
            if not prompt.fate.done():
                prompt.fate.set_result(Fate("discarded", None, None, ""))
        plain(self)

    patch.setattr(OpenSession, "cancel", cancel)


def _a_cancel_reaches_the_running_prompt_only(patch: pytest.MonkeyPatch) -> None:
    def cancel(self: OpenSession) -> None:
        running = [prompt for prompt in self._prompts if prompt.turn is not None]
        for prompt in running:
            prompt.is_cancelled = True
        if running:
            self.handle.agent.cancel()

    patch.setattr(OpenSession, "cancel", cancel)


def _later_turns_are_shown_at_once(patch: pytest.MonkeyPatch) -> None:
    plain = OpenSession.recorded

    def recorded(self: OpenSession, record: Any) -> None:  # noqa: ANN401  # as the plain one
        plain(self, record)
        self._held.clear()

    patch.setattr(OpenSession, "recorded", recorded)


def _closing_only_forgets(patch: pytest.MonkeyPatch) -> None:
    async def finish(self: Bridge, session: OpenSession) -> None:
        del self._ending[session.id], self._shown[session.session]

    patch.setattr(Bridge, "_finish", finish)


def _agents_of_the_driver(self: AppContext) -> AgentRegistry:
    """Let nobody else's end be the end of the agents."""
    roster = self.need(AGENTS)
    return AgentRegistry(roster, roster.provider)


def _the_end_forgets_the_sessions(patch: pytest.MonkeyPatch) -> None:
    plain = Bridge.aclose

    def aclose(self: Bridge) -> Teardown:
        self._open.clear()
        return plain(self)

    patch.setattr(Bridge, "aclose", aclose)
    patch.setattr(AppContext, "agents", property(_agents_of_the_driver))


def _a_load_goes_on_without_its_client(patch: pytest.MonkeyPatch) -> None:
    async def load(self: Bridge, _: str, session_id: str, __: object) -> OpenSession:
        self._check_open()
        self._check_free(session_id)
        agents = self._context.agents
        loop = asyncio.get_running_loop()
        task = loop.create_task(agents.resume(session_id=session_id))
        task.add_done_callback(lambda task: task.cancelled() or task.exception())
        error = await attempt_awaited(asyncio.shield(task))
        if isinstance(error, LifecycleError):
            raise refusal(error)
        return self._enter(task.result())

    patch.setattr(Bridge, "_load", load)
    patch.setattr(AppContext, "agents", property(_agents_of_the_driver))


def _a_load_is_shown_behind_its_answer(patch: pytest.MonkeyPatch) -> None:
    plain = OpenSession.replay

    async def replay(self: OpenSession, drain: Callable[[], Awaitable[None]]) -> None:
        loop = asyncio.get_running_loop()
        loop.call_soon(lambda: late.append(loop.create_task(plain(self, drain))))

    late: list[asyncio.Task[None]] = []

    patch.setattr(OpenSession, "replay", replay)


PLANTS: Final[dict[Plant, str]] = {
    _a_cancel_is_remembered_by_the_session: "INV-15",
    _a_prompt_waits_before_it_is_registered: "INV-15",
    _a_cancel_is_answered_before_its_turn_has_closed: "INV-15",
    _a_cancel_reaches_the_running_prompt_only: "INV-15",
    _later_turns_are_shown_at_once: "INV-15",
    _closing_only_forgets: "INV-14",
    _the_end_forgets_the_sessions: "INV-14",
    _a_load_goes_on_without_its_client: "INV-14",
    _a_load_is_shown_behind_its_answer: "INV-15",
}


@pytest.mark.parametrize(
    ("plant", "row"), PLANTS.items(), ids=[plant.__name__.strip("_") for plant in PLANTS]
)
def test_a_planted_fault_is_found(
    plant: Plant, row: str, monkeypatch: pytest.MonkeyPatch, parts_directory: Path | None
) -> None:
    """Each of these is a mistake that a public bridge has made; it dies of its own row."""
    plant(monkeypatch)
    died_of = None
    try:
        acp_suite(count=Count(), examples=1500, shrinks=False)
    except BrokenPromiseError as error:
        died_of = error.criterion
    if parts_directory is not None:
        name = plant.__name__.strip("_").replace("_", "-")
        text = json.dumps({"mutants": [mutant(name, row, died_of)]}, indent=2)
        (parts_directory / f"acp-{name}.json").write_text(text, encoding="utf-8")
    assert died_of == row


def mutant(name: str, row: str, died_of: str | None) -> dict[str, object]:
    """Tell the verdict what became of a planted fault."""
    return {
        "id": name,
        "fault": name.replace("-", " "),
        "layer": "bridge",
        "must_die_of": row,
        "died_of": died_of,
        "killed": died_of == row,
        "seconds": 0.0,
    }
