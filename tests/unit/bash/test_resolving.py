"""What a request becomes before anything is run."""

from pathlib import Path
from typing import Any

import attrs
import pytest

from runtime import BashConfig, BashExecRequest, BashExecSpec, InvalidCommandError, Limits
from runtime.bash.resolving import resolve

LIMITS = Limits(command_timeout_s=120, command_timeout_max_s=600)


def resolved(config: BashConfig | None = None, **fields: Any) -> BashExecSpec:  # noqa: ANN401  # of a request
    """Resolve a request with these fields."""
    request = BashExecRequest(**{"command": "c", **fields})
    return resolve(request, config or BashConfig(workdir="/w"), LIMITS)


@pytest.mark.clause("H-01")
@pytest.mark.seed("SEED-53")
def test_bash_request_owner_optional() -> None:
    """A request needs a command only, and the token comes through as it is, also an empty one."""
    assert resolved().owner is None
    assert resolved(owner="").owner == ""
    assert resolved(owner="s").owner == "s"


@pytest.mark.clause("H-01")
@pytest.mark.seed("SEED-54")
def test_a_spec_has_to_say_whose_it_is_even_when_it_is_nobodys() -> None:
    """The owner has no default, so nobody can forget it; None is an answer."""
    default: object = attrs.fields(BashExecSpec).owner.default
    assert default is attrs.NOTHING
    fields: dict[str, Any] = {"command": "c", "workdir": "/", "timeout_s": 1.0}
    with pytest.raises(TypeError, match="owner"):
        BashExecSpec(**fields)
    assert BashExecSpec(**fields, owner=None).owner is None


@pytest.mark.clause("H-01", "H-02")
def test_what_was_not_asked_for_is_absent() -> None:
    """No signal, no standard input and no variables, unless somebody gave them."""
    spec = resolved()
    assert (spec.signal, spec.stdin, dict(spec.environment)) == (None, None, {})
    assert resolved(stdin=b"").stdin == b""
    assert resolved(environment={"A": "1"}).environment == {"A": "1"}


@pytest.mark.clause("H-03")
def test_directories(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Asked for, else configured, else where the process is by then; relative to the default."""
    assert resolved().workdir == "/w"
    assert resolved(workdir="sub").workdir == "/w/sub"
    assert resolved(workdir="/abs").workdir == "/abs"
    monkeypatch.chdir(tmp_path)
    assert resolved(BashConfig()).workdir == str(tmp_path)
    assert resolved(BashConfig(), workdir="sub").workdir == str(tmp_path / "sub")
    assert resolved(BashConfig(workdir="w")).workdir == str(tmp_path / "w")


@pytest.mark.clause("H-03")
def test_a_process_whose_directory_is_gone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It is said what is missing, instead of running somewhere."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(InvalidCommandError, match="the directory of this process is gone"):
        resolved(BashConfig())


@pytest.mark.clause("H-04", "H-06")
@pytest.mark.parametrize(
    ("asked", "granted"),
    [(None, 120.0), (1, 1.0), (0.05, 0.05), (600, 600.0), (601, 600.0), (1_000_000, 600.0)],
)
def test_a_timeout_has_a_default_and_a_bound(asked: float | None, granted: float) -> None:
    """More than is allowed becomes what is allowed."""
    assert resolved(timeout_s=asked).timeout_s == granted


@pytest.mark.clause("H-04")
def test_the_default_obeys_the_bound() -> None:
    """However the limits are configured."""
    limits = Limits(command_timeout_s=120, command_timeout_max_s=60)
    assert resolve(BashExecRequest(command="c"), BashConfig(), limits).timeout_s == 60


@pytest.mark.clause("H-05", "H-06")
@pytest.mark.parametrize(
    "timeout",
    [0, 0.0, -1, float("nan"), float("inf"), float("-inf"), True, "1", 2**40, 2**31, 10**400],
)
def test_a_timeout_that_is_none_is_refused(timeout: Any) -> None:  # noqa: ANN401  # anything
    """Nothing of the sort may become a time that is over at once."""
    with pytest.raises(InvalidCommandError, match="timeout_s"):
        resolved(timeout_s=timeout)


@pytest.mark.clause("H-05")
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), "1", None])
@pytest.mark.parametrize("name", ["command_timeout_s", "command_timeout_max_s", "kill_verify_s"])
def test_a_limit_that_is_none_is_refused(name: str, value: Any) -> None:  # noqa: ANN401  # anything
    """The name of the field is in the message."""
    with pytest.raises(ValueError, match=name):
        Limits(**{name: value})


@pytest.mark.clause("H-50")
@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"command": "a\0b"}, "command refused.*NUL"),
        ({"command": b"a"}, "command refused: give text, not bytes"),
        ({"command": "\ud800"}, "command refused: it has no encoding"),
        ({"workdir": "a\0b"}, "workdir refused.*NUL"),
        ({"workdir": ""}, "workdir=''"),
        ({"workdir": 1}, "workdir refused: give text"),
        ({"environment": {"A": "a\0b"}}, r"environment\[A\] refused.*NUL"),
        ({"environment": {"A=B": "1"}}, "no name of a variable"),
        ({"environment": {"": "1"}}, "no name of a variable"),
        ({"environment": {"A": 1}}, r"environment\[A\] refused: give text"),
        ({"owner": 7}, "owner=7 refused"),
        ({"stdin": "text"}, "stdin refused: give bytes"),
    ],
)
def test_what_no_system_takes_is_refused(fields: dict[str, Any], said: str) -> None:
    """Before anything is started, and the field is named."""
    with pytest.raises(InvalidCommandError, match=said):
        resolved(**fields)


@pytest.mark.clause("H-50")
def test_undecodable_names_survive() -> None:
    """A file name of any bytes, as the standard library decodes it, can be asked for."""
    assert resolved(command="cat \udcff").command == "cat \udcff"
