"""What the plugin context refuses, and who is at fault.

Each error has a `code`, because a plugin that was too late wants to tell that apart from a plugin
that was wrong.
"""

from typing import ClassVar

from attrs import frozen

from runtime.errors import CallerError, DuplicateIdError, PluginError

__all__ = [
    "ConfigIssue",
    "DuplicateServiceError",
    "InactiveError",
    "InvalidConfigError",
    "InvalidEffectError",
    "NotInjectedError",
]


class InactiveError(CallerError):
    """The fiber of this context is not active any more, or not yet; nothing was registered.

    Clauses: G-10 G-14
    """

    code: ClassVar[str] = "inactive-effect"


class NotInjectedError(CallerError):
    """A service was read that neither this fiber nor one above it injects.

    Clauses: G-15
    """

    code: ClassVar[str] = "not-injected"


class DuplicateServiceError(DuplicateIdError):
    """Somebody provides this service already; the message says who.

    Clauses: G-18
    """

    code: ClassVar[str] = "duplicate-service"


class InvalidEffectError(PluginError, TypeError):
    """An effect gave back something that is neither a disposer nor None.

    Clauses: G-01
    """

    code: ClassVar[str] = "invalid-effect"


@frozen
class ConfigIssue:
    """One thing that is wrong with a configuration."""

    path: str
    """Where: `servers[2].port`, or empty for the whole."""
    message: str


class InvalidConfigError(CallerError, ValueError):
    """A plugin's configuration is not what the plugin takes; it was not applied.

    Clauses: G-20
    """

    code: ClassVar[str] = "invalid-config"

    def __init__(self, plugin: str, issues: tuple[ConfigIssue, ...]) -> None:
        listed = "; ".join(f"{issue.path or '(all of it)'}: {issue.message}" for issue in issues)
        super().__init__(f"the configuration of plugin {plugin} is refused: {listed}")
        self.issues = issues
        """Everything that is wrong, each with its place."""
