"""The system prompt: what the agent is told first, and what plugins add to it.

A section belongs to the plugin that added it and goes with it. Its text is asked for at every
request, so it can say how things are now. A section is part of the turn that asks, no observer:
a turn without it would be another one, so its failure is that turn's.
"""

from collections.abc import Callable
from inspect import iscoroutinefunction

from attrs import define, field, frozen

from .containment import attempt, render_error
from .context import Context, Effect, Token
from .errors import CallerError, DuplicateIdError, PluginError
from .session.content import freeze_json

__all__ = ["SYSTEM_PROMPT", "SystemPrompt"]


@frozen(kw_only=True, eq=False)
class _Section:
    name: str
    owner: str
    """The plugin that added it."""
    text: str | Callable[[], str]
    order: int


@define(eq=False)
class SystemPrompt:
    """The sections of the system prompt, by name.

    Clauses: K-15
    """

    _sections: dict[str, _Section] = field(init=False, factory=dict)

    def add(
        self, context: Context, name: str, text: str | Callable[[], str], order: int = 0
    ) -> Effect:
        """Add a section until the fiber of `context` unloads, or the result is disposed.

        Args:
            context: whose fiber it belongs to.
            name: what it is called in messages; one name, one section.
            text: the text, or a plain function that returns it, called at every request.
            order: the smaller it is, the further to the front; among equals the first added leads.

        Raises:
            DuplicateIdError: a section has this name; the message names its plugin.
            InactiveError: the fiber is not active any more.
            CallerError: an argument is of another kind.

        Clauses: K-15 K-22
        """
        if type(name) is not str or not name:
            raise CallerError(f"section refused: its name is {name!r}; give a string")
        if type(order) is not int:
            raise CallerError(f"section {name!r} refused: its order is {order!r}; give an integer")
        if type(text) is str:
            freeze_json(text, what=f"section {name!r}")
        elif not callable(text) or iscoroutinefunction(text):
            raise CallerError(
                f"section {name!r} refused: its text must be a string or a plain function that "
                "returns one"
            )

        def enter() -> Callable[[], object]:
            taken = self._sections.get(name)
            if taken is not None:
                raise DuplicateIdError(
                    f"section {name!r} refused: plugin {taken.owner} added one of this name; "
                    "choose another name, or dispose that one first"
                )
            owner = context.fiber.name
            self._sections[name] = _Section(name=name, owner=owner, text=text, order=order)
            return lambda: self._sections.pop(name)

        return context.effect(enter, name=f"section {name}")

    def render(self, base: str) -> str:
        """Return every section, as it is now, and the agent's own system prompt behind them.

        They are separated by blank lines; what is blank is left out.

        Raises:
            PluginError: a section raised, or gave no text; the message names it and its plugin.

        Clauses: A-45 K-15 K-22
        """
        # Sections of one order stay in the order in which they were added: the sort is stable.
        sections = sorted(self._sections.values(), key=lambda section: section.order)
        # One that was asked before may have taken this one away.
        texts = [_text_of(each) for each in sections if self._sections.get(each.name) is each]
        texts.append(base)
        return "\n\n".join(text for text in texts if text.strip())


def _text_of(section: _Section) -> str:
    if type(section.text) is str:
        return section.text
    texts: list[str] = []

    def ask() -> None:
        assert callable(section.text)
        texts.append(_checked_text(section.text()))

    error = attempt(ask)
    if error is not None:
        raise PluginError(
            f"section {section.name!r} of the system prompt, of plugin {section.owner}, failed: "
            f"{render_error(error)}"
        ) from error
    return texts[0]


def _checked_text(text: object) -> str:
    if type(text) is not str:
        raise PluginError(f"its text must be a string, not {type(text).__name__}")
    checked: str = freeze_json(text, what="its text")
    return checked


SYSTEM_PROMPT: Token[SystemPrompt] = Token("system-prompt")
