"""The system prompt: what plugins add to it, in which order, and for how long."""

from typing import Any

import pytest

from runtime.context import Context, FiberState, InactiveError
from runtime.errors import CallerError, DuplicateIdError, PluginError
from runtime.system_prompt import SystemPrompt
from statemachine.conformance.stage.stage import Stage

from .context.scene import FailedError, load, state_of, wait


@pytest.mark.clause("A-45", "K-15")
def test_sections_stand_in_order_before_the_agents_own_prompt(stage: Stage, root: Context) -> None:
    """By their order, and among equals the one that was added first leads."""
    assert stage.idle
    prompt = SystemPrompt()
    prompt.add(root, "late", "L", order=10)
    prompt.add(root, "first", "A")
    prompt.add(root, "early", lambda: "E", order=-1)
    prompt.add(root, "second", "B\n")
    assert prompt.render("You help.") == "E\n\nA\n\nB\n\n\nL\n\nYou help."


@pytest.mark.clause("K-15")
def test_what_is_blank_is_left_out(stage: Stage, root: Context) -> None:
    """A section may have nothing to say today, and an agent no prompt of its own."""
    assert stage.idle
    prompt = SystemPrompt()
    assert prompt.render("") == ""
    prompt.add(root, "empty", "")
    prompt.add(root, "blank", lambda: " \n")
    assert prompt.render("") == ""
    assert prompt.render("You help.") == "You help."
    prompt.add(root, "tools", "T")
    assert prompt.render("") == "T"


@pytest.mark.clause("K-15")
def test_a_section_says_how_things_are_now(stage: Stage, root: Context) -> None:
    """It is asked once for every request, and never before."""
    assert stage.idle
    prompt = SystemPrompt()
    asked: list[int] = []

    def count() -> str:
        asked.append(len(asked))
        return f"request {len(asked)}"

    prompt.add(root, "count", count)
    assert asked == []
    assert [prompt.render(""), prompt.render("")] == ["request 1", "request 2"]


@pytest.mark.clause("K-15")
def test_a_section_goes_with_its_plugin(stage: Stage, root: Context) -> None:
    """The others stay, the name is free, and a plugin that is loaded anew adds it anew."""
    prompt = SystemPrompt()
    prompt.add(root, "stays", "S")
    fiber = load(stage, root, lambda context, _: prompt.add(context, "goes", "G"))
    assert prompt.render("") == "S\n\nG"
    assert [part.name for tree in fiber.effects for part in tree.parts] == ["section goes"]
    wait(stage, fiber.restart())
    assert prompt.render("") == "S\n\nG"
    assert wait(stage, fiber.dispose()).failed == ()
    assert prompt.render("") == "S"
    effect = prompt.add(root, "goes", "again")
    effect.dispose()
    assert prompt.render("") == "S"


@pytest.mark.clause("K-15")
def test_a_section_that_goes_while_others_are_asked_is_not_asked(
    stage: Stage, root: Context
) -> None:
    """Whoever took it away relies on that."""
    assert stage.idle
    prompt = SystemPrompt()
    later = prompt.add(root, "later", _fail)

    def remove() -> str:
        later.dispose()
        return "R"

    prompt.add(root, "remove", remove, order=-1)
    assert prompt.render("") == "R"


@pytest.mark.clause("K-22")
def test_a_name_is_taken_once(stage: Stage, root: Context) -> None:
    """The refusal names who has it; the first section stays."""
    prompt = SystemPrompt()
    load(stage, root, lambda context, _: prompt.add(context, "rules", "A"), name="lawyer")
    with pytest.raises(DuplicateIdError, match="section 'rules' refused: plugin lawyer added"):
        prompt.add(root, "rules", "B")
    second = load(stage, root, lambda context, _: prompt.add(context, "rules", "B"))
    assert state_of(second) is FiberState.FAILED
    assert prompt.render("") == "A"


@pytest.mark.clause("K-15")
def test_a_plugin_that_has_gone_adds_nothing(stage: Stage, root: Context) -> None:
    """Nobody would ever take the section away again."""
    prompt = SystemPrompt()
    contexts: list[Context] = []
    fiber = load(stage, root, lambda context, _: contexts.append(context))
    wait(stage, fiber.dispose())
    with pytest.raises(InactiveError, match="section rules refused"):
        prompt.add(contexts[0], "rules", "A")
    assert prompt.render("") == ""


async def _later() -> str:
    return "later"


@pytest.mark.clause("K-22")
@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("", "A"), "its name is ''"),
        ((None, "A"), "its name is None"),
        (("rules", None), "its text must be a string or a plain function"),
        (("rules", _later), "its text must be a string or a plain function"),
        (("rules", "a\ud800"), "section 'rules' holds half a surrogate pair"),
        (("rules", "A", 1.5), "its order is 1.5"),
        (("rules", "A", True), "its order is True"),
    ],
    ids=lambda each: ascii(each).partition(" at 0x")[0],
)
def test_a_section_that_is_none_is_refused(
    stage: Stage, root: Context, arguments: tuple[Any, ...], why: str
) -> None:
    """Whoever adds it learns what is wrong, and nothing was added."""
    assert stage.idle
    prompt = SystemPrompt()
    with pytest.raises(CallerError, match=why):
        prompt.add(root, *arguments)
    assert prompt.render("") == ""
    assert not [tree for tree in root.effects if tree.name.startswith("section")]


def _fail() -> str:
    raise FailedError("no disk")


@pytest.mark.clause("K-22")
@pytest.mark.parametrize(
    ("text", "why"),
    [
        (_fail, "FailedError: no disk"),
        (lambda: None, "its text must be a string, not NoneType"),
        (lambda: b"bytes", "its text must be a string, not bytes"),
        (lambda: "a\ud800", "its text holds half a surrogate pair"),
    ],
    ids=["raises", "none", "bytes", "surrogate"],
)
def test_a_section_that_fails_fails_the_request(
    stage: Stage,
    root: Context,
    text: Any,  # noqa: ANN401  # on purpose
    why: str,
) -> None:
    """A turn must not run without a rule it was meant to have; the error names whose it is."""
    prompt = SystemPrompt()
    prompt.add(root, "before", "A")
    load(stage, root, lambda context, _: prompt.add(context, "rules", text), name="lawyer")
    with pytest.raises(PluginError, match=f"section 'rules' .* of plugin lawyer, failed: .*{why}"):
        prompt.render("You help.")
