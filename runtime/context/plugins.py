"""What can be loaded: a function, what it needs, and what it may be configured with."""

from collections.abc import Callable
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from attrs import field, frozen

from runtime.containment import attempt, render_error
from runtime.errors import CallerError

from .errors import ConfigIssue, InvalidConfigError
from .tokens import Token

if TYPE_CHECKING:
    from attrs import Attribute

__all__ = ["Plugin", "checked_config"]

C = TypeVar("C")


def _is_name(_: object, __: object, value: str) -> None:
    if type(value) is not str or not value:
        raise CallerError(f"plugin refused: its name is {value!r}; give it a string")


def _is_function(plugin: "Plugin[Any]", attribute: "Attribute[Any]", value: object) -> None:
    if not callable(value):
        raise CallerError(
            f"plugin {plugin.name} refused: {attribute.name} is {value!r}; give it a function"
        )


def _is_plain(plugin: "Plugin[Any]", attribute: "Attribute[Any]", value: object) -> None:
    if value is not None:
        _is_function(plugin, attribute, value)
    if iscoroutinefunction(value):
        raise CallerError(
            f"plugin {plugin.name} refused: {attribute.name} is a coroutine function, and nobody "
            "awaits it; give it a plain one, and wait in apply"
        )


def _are_tokens(plugin: "Plugin[Any]", attribute: "Attribute[Any]", value: object) -> None:
    if type(value) is not tuple or not all(isinstance(each, Token) for each in value):
        raise CallerError(
            f"plugin {plugin.name} refused: {attribute.name} is {value!r}; a tuple of tokens is due"
        )


@frozen(kw_only=True)
class Plugin(Generic[C]):
    """Something that can be loaded, unloaded and loaded again.

    Raises:
        CallerError: it is made of something else than it asks for.

    Clauses: G-52
    """

    name: str = field(validator=_is_name)
    apply: Callable[[Any, C], object] = field(validator=_is_function)
    """Given a context and the configuration, sets up; like an effect, it may give back disposers,
    be a generator of them, and be asynchronous."""
    inject: tuple[Token[Any], ...] = field(default=(), validator=_are_tokens)
    """The services that it needs; it is loaded only while all of them are there."""
    validate: Callable[[Any], C] | None = field(default=None, validator=_is_plain)
    """Given what somebody configured, returns the configuration or raises."""


def checked_config(plugin: Plugin[Any], config: object) -> Any:  # noqa: ANN401  # the plugin knows
    """Return the configuration as the plugin wants it.

    Raises:
        InvalidConfigError: it is not what the plugin takes.

    Clauses: G-20
    """
    if plugin.validate is None:
        return config
    answers: list[object] = []
    validate = plugin.validate
    error = attempt(lambda: answers.append(validate(config)))
    if error is None:
        return answers[0]
    if isinstance(error, InvalidConfigError):
        raise error
    issue = ConfigIssue("", render_error(error))
    raise InvalidConfigError(plugin.name, (issue,)) from error
