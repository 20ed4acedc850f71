"""The tools of one application: what a model may call, and who brought it.

A tool belongs to the plugin that registered it and goes with it. What a model is told is read from
here at every request, so a tool that has gone is not offered again.
"""

from collections.abc import Iterator

from attrs import define, field, frozen

from runtime.announcements import Announcement
from runtime.containment import contain
from runtime.context import Context, Disposer, Effect, Token
from runtime.errors import CallerError, DuplicateIdError, PluginError
from runtime.session.content import FrozenObject, freeze_json

from .arguments import violations
from .values import Tool

__all__ = ["TOOLS", "TOOLS_CHANGED", "ToolRegistry", "ToolsChanged"]


@frozen(kw_only=True)
class ToolsChanged:
    """A tool came or went."""

    name: str
    is_registered: bool
    """Whether it came."""


TOOLS_CHANGED: Announcement[ToolsChanged] = Announcement("tools/changed")


@frozen(kw_only=True, eq=False)
class _Entry:
    tool: Tool
    owner: str
    """The plugin that registered it."""


@define(eq=False)
class ToolRegistry:
    """The tools by name, in the order in which they were registered.

    Clauses: K-01 K-02
    """

    _entries: dict[str, _Entry] = field(init=False, factory=dict)
    _schemas: tuple[FrozenObject, ...] | None = field(init=False, default=None)

    def register(self, context: Context, tool: Tool) -> Effect:
        """Offer a tool until the fiber of `context` unloads, or the result is disposed.

        Raises:
            DuplicateIdError: a tool has this name; the message names its plugin.
            InactiveError: the fiber is not active any more.
            CallerError: it is no `Tool`.

        Clauses: K-01
        """
        if not isinstance(tool, Tool):
            raise CallerError(f"register refused: it takes a Tool, not {type(tool).__name__}")

        def leave() -> None:
            del self._entries[tool.name]
            self._changed(context, tool, is_registered=False)

        def enter() -> Iterator[Disposer]:
            self._check_free(tool.name)
            self._entries[tool.name] = _Entry(tool=tool, owner=context.fiber.name)
            yield leave
            self._changed(context, tool, is_registered=True)

        return context.effect(enter, name=f"tool {tool.name}")

    def get(self, name: str) -> Tool | None:
        """Return the tool of this name, or None."""
        entry = self._entries.get(name)
        return None if entry is None else entry.tool

    def list(self) -> tuple[Tool, ...]:
        """Return every tool, the one that was registered first at the front."""
        return tuple(entry.tool for entry in self._entries.values())

    def schemas(self) -> tuple[FrozenObject, ...]:
        """Return what a model is told: of each tool exactly name, description and parameters.

        Clauses: K-02 K-15
        """
        if self._schemas is None:
            self._schemas = tuple(entry.tool.schema for entry in self._entries.values())
        return self._schemas

    def presentation(
        self, name: str, arguments: object, meta: FrozenObject | None = None
    ) -> FrozenObject | None:
        """Return how a call is shown to people, or None; never raises.

        The call may come from an old log, so its tool may be gone or take other arguments by now.
        A callback that fails, or gives back what is no JSON object, is logged.

        Args:
            name: the tool that was called.
            arguments: the parsed arguments (see `parse_arguments`).
            meta: the `meta` of the result, if there is a result that has one.

        Clauses: K-10 K-12
        """
        entry = self._entries.get(name)
        if entry is None or entry.tool.present is None or violations(entry.tool, arguments):
            return None
        present = entry.tool.present
        shown: FrozenObject | None = None

        def show() -> None:
            nonlocal shown
            shown = _checked_presentation(present(arguments, meta))

        contain(show, what=f"presentation of tool {name}", who=entry.owner)
        return shown

    def _check_free(self, name: str) -> None:
        taken = self._entries.get(name)
        if taken is not None:
            raise DuplicateIdError(
                f"tool {name!r} refused: plugin {taken.owner} registered one of this name; "
                "choose another name, or dispose that one first"
            )

    def _changed(self, context: Context, tool: Tool, *, is_registered: bool) -> None:
        self._schemas = None
        context.emit(TOOLS_CHANGED, ToolsChanged(name=tool.name, is_registered=is_registered))


def _checked_presentation(value: object) -> FrozenObject | None:
    shown = freeze_json(value, what="presentation")
    if shown is not None and type(shown) is not FrozenObject:
        raise PluginError(f"a presentation must be an object or None, not {type(value).__name__}")
    return shown


TOOLS: Token[ToolRegistry] = Token("tools")
