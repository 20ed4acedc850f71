"""Names with types: what a service is called, and what its value is.

A plugin asks for a service by its token, never by a string, so that the type checker knows what it
gets. Two tokens with one name are one service.
"""

from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from attrs import field, frozen

if TYPE_CHECKING:
    from .context import Context

__all__ = ["Provided", "Token"]

T = TypeVar("T")


def _is_name(_token: object, _attribute: object, value: str) -> None:
    if type(value) is not str or not value:
        raise ValueError(f"a token needs a name, not {value!r}")


@frozen
class Token(Generic[T]):
    """One service; `name` is its string, the type says what its provider provides."""

    name: str = field(validator=_is_name)

    def __str__(self) -> str:
        return self.name


class Provided(Generic[T]):
    """A property of a context that reads one service, as `need` does.

    For the class of an application's contexts: `agents = Provided(AGENTS)`.

    Clauses: G-13 G-14 G-15 G-17
    """

    __slots__ = ("_token",)

    def __init__(self, token: Token[T]) -> None:
        self._token = token

    @overload
    def __get__(self, context: None, owner: Any) -> "Provided[T]": ...  # noqa: ANN401  # any class

    @overload
    def __get__(self, context: "Context", owner: Any) -> T: ...  # noqa: ANN401  # any class

    def __get__(self, context: "Context | None", owner: Any) -> "Provided[T] | T":
        """Return the service; from the class, this property."""
        return self if context is None else context.need(self._token)
