"""The command: a stranger's runtime, a broken one, and everything that can be wrong before."""

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from statemachine.conformance.__main__ import main
from statemachine.conformance.verdict.evidence import Evidence
from statemachine.conformance.verdict.fuzzed import Fuzzer
from statemachine.conformance.verdict.run import Options, verify

TOY = "tests.conformance.toy:make_subject"
BROKEN = "tests.conformance.toy:make_broken_subject"


def run(subject: str, folder: Path, *more: str) -> tuple[int, dict[str, Any]]:
    """Run the command in short, and return its status and report."""
    path = folder / "report.json"
    options = ("--seconds", "0", "--profile", "fast", "--quiet", "--report", str(path))
    status = main(["verify", "--subject", subject, *options, *more])
    return status, json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def in_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the engines that a test is not about."""
    monkeypatch.setattr("statemachine.conformance.verdict.run.examine_specification", Evidence)
    monkeypatch.setattr("statemachine.conformance.verdict.run.examine_surroundings", Evidence)
    monkeypatch.setattr("statemachine.conformance.verdict.run._DEVIATIONS", 0)
    monkeypatch.setattr(Fuzzer, "run", lambda *_: Evidence())


@pytest.mark.slow
def test_a_stranger_is_judged_by_its_running_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A runtime that never heard of the machine gets rows that hold, and honest gaps."""
    status, report = run(TOY, tmp_path, "--strict")
    printed = capsys.readouterr().out
    assert status == 3, printed
    verdicts = {row["id"]: row["verdict"] for row in report["criteria"]}
    assert len(verdicts) == 21
    assert "broken" not in verdicts.values()
    assert {verdicts[row] for row in ("INV-01", "INV-02", "INV-08", "INV-16", "INV-21")} == {
        "holds"
    }
    # It offers neither listeners nor steering, so nobody could look.
    assert {verdicts[row] for row in ("INV-03", "INV-09")} == {"unchecked"}
    assert all(row["verdict"] != "holds" or row["checks"] for row in report["criteria"])
    assert report["owns_specification"] is False
    assert all(each["found"] for each in report["canaries"])
    assert "is judged from outside" in printed
    assert all(row in printed for row in verdicts)


@pytest.mark.slow
def test_a_broken_stranger_is_told_which_row_and_how(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 1, the row by name, and a story that ends in what was seen."""
    status, report = run(BROKEN, tmp_path)
    printed = capsys.readouterr().out
    assert status == 1, printed
    row = report["criteria"][0]
    assert (row["id"], row["verdict"]) == ("INV-01", "broken")
    assert "INV-01  A S   broken" in printed
    story = next(each for each in report["stories"] if "INV-01" in each)
    assert "cancel" in story
    assert "  1. " in story
    assert story in printed


@pytest.mark.parametrize(
    ("subject", "said"),
    [
        ("runtime.subject", "write package.module:make_subject"),
        ("no_such_module:make", "cannot import no_such_module"),
        ("tests.conformance.toy:nothing", "has no nothing"),
        ("tests.conformance.toy:__name__", "cannot be called"),
        ("builtins:object", "the subject has no `offers`"),
        ("tests.conformance.toy:ToyAgent", "make_subject failed: TypeError"),
        ("tests.conformance.test_verify_command:Mute", "lacks open, create"),
        ("tests.conformance.test_verify_command:make_unopenable", "OSError: no disk"),
    ],
)
def test_a_subject_that_cannot_be_used_is_refused_in_words(
    subject: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message names what is wrong, and nothing has been claimed, not even by an old report."""
    (tmp_path / "report.json").write_text('{"exit_status": 0}', encoding="utf-8")
    status, report = run(subject, tmp_path)
    assert (status, report) == (2, {})
    caught = capsys.readouterr()
    assert said in caught.err
    assert caught.out == ""


def test_a_story_ends_with_the_command_that_tells_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a search found is seen again by anybody, and not in a runtime that is in order."""
    in_short(monkeypatch)
    _, report = run(BROKEN, tmp_path)
    line = next(each for each in report["stories"] if "conformance replay" in each).splitlines()[-1]
    command = shlex.split(line.partition("statemachine.conformance ")[2])
    capsys.readouterr()
    assert main(command) == 1
    assert "INV-01" in capsys.readouterr().out
    assert main([word.replace(BROKEN, TOY) for word in command]) == 0


@pytest.mark.parametrize(
    ("subject", "script", "schedule", "said"),
    [
        (TOY, "no such thing", "fifo", "the scripts are 'two prompts and a cancel'"),
        (TOY, "two prompts and a cancel", "first", "not a schedule: 'first'"),
        (TOY, "two prompts and a cancel", "999:1", "there is no decision 999"),
        (TOY, "steering and a cancel", "fifo", "does not offer steer"),
        ("nowhere:make", "two prompts and a cancel", "fifo", "cannot import nowhere"),
    ],
)
def test_what_cannot_be_replayed_is_refused_in_words(
    subject: str, script: str, schedule: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message says what there is instead."""
    assert main(["replay", "--subject", subject, "--script", script, schedule]) == 2
    assert said in capsys.readouterr().err


def test_a_report_that_cannot_be_written_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A verdict that leaves no report has not been given, and no engine has worked for nothing."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    path = str(tmp_path / "file" / "report.json")
    assert main(["verify", "--subject", TOY, "--seconds", "0", "--quiet", "--report", path]) == 2
    assert "cannot write the report" in capsys.readouterr().err


def test_level_inside_needs_a_probe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What cannot be compared is not compared silently from outside."""
    assert run(TOY, tmp_path, "--level", "inside")[0] == 2
    assert "needs a subject with `probe`" in capsys.readouterr().err


def test_parts_that_cannot_be_read_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Merging from nowhere is a mistake and not an empty merge."""
    assert run(TOY, tmp_path, "--merge", str(tmp_path / "nowhere"))[0] == 2
    assert "is no folder" in capsys.readouterr().err


def test_a_missed_canary_makes_the_run_unreliable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Merged parts without a killed mutant have no teeth, and the exit status says so."""
    in_short(monkeypatch)
    (tmp_path / "parts").mkdir()
    status, report = run(TOY, tmp_path, "--merge", str(tmp_path / "parts"))
    assert status == 2
    assert report["unreliable"] == [
        "the mutants canary was not found: no merged part holds a killed mutant"
    ]
    assert "UNRELIABLE" in capsys.readouterr().out


def test_an_engine_that_fails_makes_the_run_unreliable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The other engines go on, and the run says which one did not."""

    def fail() -> None:
        raise RuntimeError("out of order")

    in_short(monkeypatch)
    monkeypatch.setattr("statemachine.conformance.verdict.run.examine_specification", fail)
    report = tmp_path / "report.json"
    options = Options(subject=TOY, seconds=0, profile="fast", report=report, is_quiet=True)
    assert verify(options) == 2
    assert "the engine explorer failed: RuntimeError: out of order" in capsys.readouterr().out


def test_criteria_prints_every_row(capsys: pytest.CaptureFixture[str]) -> None:
    """What is promised can be read without a subject."""
    assert main(["criteria"]) == 0
    assert "INV-21" in capsys.readouterr().out


@pytest.mark.parametrize("seconds", ["-1", "soon", "inf", "nan"])
def test_no_time_at_all_is_refused(seconds: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A hunt needs a number of seconds."""
    with pytest.raises(SystemExit) as stopped:
        main(["verify", "--subject", TOY, "--seconds", seconds])
    assert stopped.value.code == 2
    assert "is no number of seconds" in capsys.readouterr().err


def without_extras(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder of its own, as if the extra were not installed."""
    lines = (
        "import sys",
        "sys.modules.update(dict.fromkeys(('hypothesis', 'rich', 'pytest')))",
        "from statemachine.conformance.__main__ import main",
        f"sys.exit(main({list(arguments)!r}))",
    )
    return subprocess.run(
        [sys.executable, "-c", "\n".join(lines)],
        cwd=folder, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


def test_only_the_verb_that_needs_the_extra_asks_for_it(tmp_path: Path) -> None:
    """Help and the rows need nothing; `verify` names what to install and claims nothing."""
    assert without_extras(tmp_path, "--help").returncode == 0
    assert without_extras(tmp_path, "criteria").returncode == 0
    refused = without_extras(tmp_path, "verify", "--subject", "runtime.subject:make_subject")
    assert refused.returncode == 2
    assert "quiesce[verify]" in refused.stderr
    assert "Traceback" not in refused.stderr


class Mute:
    """A subject that offers nothing and can nothing."""

    offers = frozenset[str]()


def make_unopenable() -> object:
    """Return a toy whose start fails."""
    from .toy import ToySubject  # noqa: PLC0415  # only this subject needs it

    class Unopenable(ToySubject):
        """A toy without a disk."""

        async def open(self, _: object) -> None:
            """Fail."""
            raise OSError("no disk")

    return Unopenable()
