"""What a command finds in its environment."""

import pytest

from runtime.bash.environment import command_environment

from .scene import Scene


@pytest.mark.clause("H-45")
def test_secrets_stay_here() -> None:
    """Whatever contains one of the three words, in any case, whatever it means."""
    ambient = {
        "MY_API_KEY": "1",
        "my_token": "2",
        "KEYBOARD": "3",
        "clientSecret": "4",
        "HOME": "/h",
        "PATH": "/p",
    }
    assert command_environment(ambient, {}).keys() & ambient.keys() == {"HOME", "PATH"}


@pytest.mark.clause("H-45")
def test_nobody_looks_at_a_terminal() -> None:
    """No colours, no pager, no terminal control, whatever the user prefers."""
    ambient = {"TERM": "xterm", "CLICOLOR": "1", "NO_COLOR": ""}
    ambient |= {"PAGER": "less", "GIT_PAGER": "delta", "MANPAGER": "most"}
    assert command_environment(ambient, {}) == {
        "TERM": "dumb",
        "CLICOLOR": "0",
        "NO_COLOR": "1",
        "PAGER": "cat",
        "GIT_PAGER": "cat",
        "MANPAGER": "cat",
    }


@pytest.mark.clause("H-45")
def test_what_is_asked_for_wins() -> None:
    """Over what is inherited, over what is switched off, and over the list of words."""
    asked = {"X_TOKEN": "t", "KEY": "k", "MY_SECRET": "s", "TERM": "vt100", "HOME": "/other"}
    made = command_environment({"HOME": "/h", "X_TOKEN": "old"}, asked)
    assert made.items() >= asked.items()


@pytest.mark.clause("H-45", "H-46")
def test_the_executor_hands_it_on(scene: Scene) -> None:
    """With the command, its directory and its standard input."""
    _, process = scene.start("echo", environment={"A": "1"}, workdir="sub", stdin=b"in")
    assert process.spec.environment["A"] == "1"
    assert process.spec.arguments[1:] == ("-c", "echo")
    assert process.spec.arguments[0].endswith("/sh")
    assert (process.spec.workdir, process.spec.stdin) == ("/sub", b"in")
