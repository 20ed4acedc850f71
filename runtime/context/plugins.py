"""What can be loaded: a function, what it needs, and what it may be configured with."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from attrs import frozen

from runtime.containment import attempt, render_error

from .errors import ConfigIssue, InvalidConfigError
from .tokens import Token

__all__ = ["Plugin", "checked_config"]

C = TypeVar("C")


@frozen(kw_only=True)
class Plugin(Generic[C]):
    """Something that can be loaded, unloaded and loaded again."""

    name: str
    apply: Callable[[Any, C], object]
    """Given a context and the configuration, sets up; like an effect, it may give back disposers,
    be a generator of them, and be asynchronous."""
    inject: tuple[Token[Any], ...] = ()
    """The services that it needs; it is loaded only while all of them are there."""
    validate: Callable[[Any], C] | None = None
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
