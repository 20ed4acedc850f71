"""What a request becomes before anything is run: checked, and with every default applied."""

import os
from collections.abc import Mapping
from math import inf
from pathlib import Path
from typing import Final

from attrs import field, frozen

from runtime.limits import Limits

from .errors import InvalidCommandError
from .seam import BashExecRequest, BashExecSpec

__all__ = ["BashConfig", "resolve"]

_TIMEOUT_CEILING_S: Final = (2**31 - 1) / 1000
"""What every timer of every platform can count to; more than this is no timeout but a mistake."""


@frozen(kw_only=True)
class BashConfig:
    """How commands are run unless a request says otherwise."""

    program: str = "bash"
    """The shell: a name to be found on the path, or a path."""
    workdir: str | None = None
    """Where commands run; None is wherever this process is at that moment."""
    environment: Mapping[str, str] | None = field(default=None, repr=False)
    """What commands inherit, but for secrets; None is the environment of this process."""


def resolve(request: BashExecRequest, config: BashConfig, limits: Limits) -> BashExecSpec:
    """Check a request and apply defaults and bounds.

    Raises:
        InvalidCommandError: something in it makes no sense.

    Clauses: H-02 H-03 H-04 H-05 H-06
    """
    _check_text("command", request.command)
    if request.owner is not None and type(request.owner) is not str:
        raise InvalidCommandError(f"owner={request.owner!r} refused: a token is a string, or None")
    if request.stdin is not None and type(request.stdin) is not bytes:
        raise InvalidCommandError("stdin refused: give bytes, or None for the null device")
    return BashExecSpec(
        command=request.command,
        workdir=_workdir(request.workdir, config.workdir),
        timeout_s=_timeout(request.timeout_s, limits),
        owner=request.owner,
        signal=request.signal,
        stdin=request.stdin,
        environment=_environment(request.environment or {}),
    )


def _timeout(wanted: object, limits: Limits) -> float:
    if wanted is None:
        return min(limits.command_timeout_s, limits.command_timeout_max_s)
    if not isinstance(wanted, int | float) or isinstance(wanted, bool) or not 0 < wanted < inf:
        raise InvalidCommandError(
            f"timeout_s={wanted!r} refused: give a finite number of seconds that is more than 0"
        )
    if wanted > _TIMEOUT_CEILING_S:
        raise InvalidCommandError(
            f"timeout_s={wanted!r} refused: no timer counts that far; "
            f"at most {limits.command_timeout_max_s:g} s are granted"
        )
    return min(float(wanted), limits.command_timeout_max_s)


def _workdir(wanted: str | None, configured: str | None) -> str:
    try:
        default = Path(configured or Path.cwd()).absolute()
    except OSError as error:
        raise InvalidCommandError(
            "workdir refused: none was given, and the directory of this process is gone"
        ) from error
    if wanted is None:
        return str(default)
    _check_text("workdir", wanted)
    if not wanted:
        raise InvalidCommandError("workdir='' refused: give a directory, or None for the default")
    return str(default / wanted)


def _environment(wanted: Mapping[str, str]) -> dict[str, str]:
    for name, value in wanted.items():
        _check_text("environment", name)
        _check_text(f"environment[{name}]", value)
        if not name or "=" in name:
            raise InvalidCommandError(
                f"environment refused: {name!r} is no name of a variable; "
                "a name is not empty and has no ="
            )
    return dict(wanted)


def _check_text(what: str, text: object) -> None:
    if type(text) is not str:
        raise InvalidCommandError(f"{what} refused: give text, not {type(text).__name__}")
    if "\0" in text:
        raise InvalidCommandError(f"{what} refused: no system takes a NUL character there")
    try:
        os.fsencode(text)
    except UnicodeEncodeError as error:
        raise InvalidCommandError(f"{what} refused: it has no encoding: {error.reason}") from error
