"""Clauses, and what cites them: no id without a clause, no clause without a check or a reason.

Every check is a function of folders, so that each can be shown to fail on a planted text.
"""

import re
import shutil
from collections.abc import Iterable, Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest

import statemachine.clauses
from statemachine.clauses import (
    Clause,
    ClauseFormatError,
    UnknownClauseError,
    clause,
    clauses,
    read_clauses,
)

_ROOT: Final = Path(__file__).resolve().parents[2]
_CODE: Final = tuple(_ROOT / name for name in ("statemachine", "runtime", "tests"))
_SPECS: Final = _ROOT / "specs"
_CASES: Final = _SPECS / "cases"
_RFCS: Final = _SPECS / "rfc"

_CLAUSE_ID: Final = re.compile(r"\b[A-L]-\d{2,3}\b")
_CASE_ID: Final = re.compile(r"\bCASE-\d{3}\b")
_CASE_HEADING: Final = re.compile(r"## (CASE-\d{3}) \S.*")
_CLAUSE_MARK: Final = re.compile(r"mark\.clause\(([^)]*)\)")
_CASE_PARTS: Final = ("Scenario:", "Expected:", "Clauses:")

# Planted ids are put together here: written out, they would be citations of this file.
_NOBODYS: Final = "A-" + "999"
_KNOWN: Final = "A-" + "01"
_OTHER: Final = "A-" + "02"
_GOOD: Final = f"# Title\n\nWords.\n\n## {_KNOWN}\n\nIt\nholds.\n\nSource: us\nChecked by: a test\n"


# ------------------------------------------------------------------------------------ the checks


def _files(folders: Iterable[Path], suffix: str) -> Iterator[Path]:
    """List the text files below some folders, in a fixed order."""
    for folder in folders:
        yield from sorted(folder.rglob(f"*{suffix}"))


def _mentions(files: Iterable[Path], pattern: re.Pattern[str]) -> dict[str, list[str]]:
    """Map every id that files mention to the places where they do."""
    places: dict[str, list[str]] = {}
    for path in files:
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1):
            for found in pattern.findall(line):
                places.setdefault(found, []).append(f"{path}:{number}")
    return places


def _marked(files: Iterable[Path]) -> set[str]:
    """Collect the ids that stand in clause marks, which is how a test says what it checks."""
    return {
        found
        for path in files
        for arguments in _CLAUSE_MARK.findall(path.read_text(encoding="utf-8"))
        for found in _CLAUSE_ID.findall(arguments)
    }


def _unknown(places: dict[str, list[str]], known: Iterable[str]) -> list[str]:
    """Say which mentioned ids do not exist, and where each is mentioned first."""
    exists = set(known)
    return [f"{each} at {at[0]}" for each, at in sorted(places.items()) if each not in exists]


def _uncited(known: Iterable[Clause], places: dict[str, list[str]]) -> list[str]:
    """Say which clauses nothing cites although they do not say that they are unchecked."""
    return [each.id for each in known if each.unchecked is None and each.id not in places]


def _checked_after_all(known: Iterable[Clause], marked: set[str]) -> list[str]:
    """Say which clauses still say `Unchecked:` although a test is marked with them."""
    return [each.id for each in known if each.unchecked is not None and each.id in marked]


def _case_headings(folder: Path) -> list[str]:
    """List the ids of the cases that are told in a folder."""
    headings = (
        _CASE_HEADING.fullmatch(line)
        for path in _files([folder], ".md")
        for line in path.read_text(encoding="utf-8").split("\n")
    )
    return [found.group(1) for found in headings if found]


def _malformed_cases(folder: Path) -> list[str]:
    """Say which sections of the case files lack an id, a part, or a clause."""
    wrong: list[str] = []
    for path in _files([folder], ".md"):
        if path.name == "README.md":
            continue
        for section in path.read_text(encoding="utf-8").split("\n## ")[1:]:
            heading, *body = section.split("\n")
            parts = [line.partition(" ")[0] for line in body if line.startswith(_CASE_PARTS)]
            if (
                not _CASE_HEADING.fullmatch(f"## {heading}")
                or tuple(parts) != _CASE_PARTS
                or not _CLAUSE_ID.search(section.rpartition("Clauses:")[2])
            ):
                wrong.append(f"{path.name}: {heading}")
    return wrong


def _plant(folder: Path, text: str, name: str = "planted.md") -> Path:
    """Write a text for a check to find, and return its folder."""
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def _code() -> list[Path]:
    """List the Python files that may cite clauses; this one only plants them."""
    return [path for path in _files(_CODE, ".py") if path != Path(__file__).resolve()]


# ---------------------------------------------------------------------------- the specification


def test_every_cited_clause_exists() -> None:
    """An id in code, in a test, in a case, in an RFC or in a page for readers names a clause."""
    written = [*_files([_CASES, _RFCS], ".md"), *_SPECS.glob("*.md")]
    places = _mentions([*_code(), *written], _CLAUSE_ID)
    assert _unknown(places, (each.id for each in clauses())) == []


def test_every_clause_is_cited_or_says_why_not() -> None:
    """A clause is cited by code or by a test, or it says `Unchecked:` and why."""
    assert _uncited(clauses(), _mentions(_code(), _CLAUSE_ID)) == []


def test_no_clause_is_called_unchecked_while_a_test_is_marked_with_it() -> None:
    """`Unchecked:` goes away with the first test of the clause."""
    assert _checked_after_all(clauses(), _marked(_code())) == []


def test_every_case_has_its_parts() -> None:
    """A case says what happens, what is expected, and by which clauses."""
    assert _malformed_cases(_CASES) == []


def test_every_case_is_told_once_and_every_cited_case_is_told() -> None:
    """The id of a case in code, in a test or in an RFC is the heading of exactly one case."""
    told = _case_headings(_CASES)
    assert len(told) == len(set(told))
    places = _mentions([*_code(), *_files([_RFCS], ".md")], _CASE_ID)
    assert _unknown(places, told) == []


def test_a_clause_is_found_by_its_id() -> None:
    """`clause` returns the clause that has the id, with its sentence and its file."""
    found = clause(_KNOWN)
    assert (found.id, found.file) == (_KNOWN, "a-agent.md")
    assert found in clauses()


def test_an_unknown_id_is_refused_with_its_neighbours() -> None:
    """A typing error is answered with the ids that it may have meant."""
    with pytest.raises(UnknownClauseError, match=rf"{_NOBODYS}.*near it are A-"):
        clause(_NOBODYS)


def test_an_id_in_small_letters_is_refused_with_the_id_that_was_meant() -> None:
    """Ids are written one way; whoever writes it another way is told."""
    with pytest.raises(UnknownClauseError, match=f"near it are .*{_KNOWN}"):
        clause(_KNOWN.lower())


def test_an_id_that_resembles_nothing_is_refused_without_a_guess() -> None:
    """An answer that guesses at random would send the reader astray."""
    with pytest.raises(UnknownClauseError, match=r"'unheard'$"):
        clause("unheard")


@pytest.mark.parametrize("folder", ["home/_clauses", "specs/clauses"])
def test_the_texts_are_found_in_a_wheel_and_in_a_checkout(tmp_path: Path, folder: str) -> None:
    """A wheel carries the texts beside the modules; a checkout has them in `specs`."""
    (tmp_path / "home").mkdir()
    (tmp_path / folder).mkdir(parents=True)
    _plant(tmp_path / folder, _GOOD)
    found = _copied_module(tmp_path / "home").clauses()
    assert [(each.id, each.file) for each in found] == [(_KNOWN, "planted.md")]


def _copied_module(home: Path) -> ModuleType:
    """Load the module from another folder, as an installation of its own."""
    spec = spec_from_file_location(
        "copied_clauses", shutil.copy(statemachine.clauses.__file__, home)
    )
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# --------------------------------------------------------------------------- the checks can fail


def test_an_id_without_a_clause_is_found(tmp_path: Path) -> None:
    """A planted citation of no clause is reported with its place."""
    _plant(tmp_path, f'"""Nothing.\n\nClauses: {_KNOWN} {_NOBODYS}\n"""\n', "planted.py")
    places = _mentions(_files([tmp_path], ".py"), _CLAUSE_ID)
    assert _unknown(places, [_KNOWN]) == [f"{_NOBODYS} at {tmp_path / 'planted.py'}:3"]


def test_ids_of_cases_and_seeds_are_no_clauses(tmp_path: Path) -> None:
    """`CASE-007` and `SEED-10` do not contain the id of a clause."""
    _plant(tmp_path, "CASE-" + "007 and SEED-" + "10 and UTF-16 and A-1", "planted.py")
    assert _mentions(_files([tmp_path], ".py"), _CLAUSE_ID) == {}


def test_a_clause_that_nothing_cites_is_found(tmp_path: Path) -> None:
    """A planted clause is reported, and one that says `Unchecked:` is not."""
    excused = f"\n## {_OTHER}\n\nIt holds.\n\nSource: us\nUnchecked: too early\n"
    planted = read_clauses(_plant(tmp_path, _GOOD + excused))
    assert _uncited(planted, {}) == [_KNOWN]
    assert _uncited(planted, {_KNOWN: ["somewhere"]}) == []


def test_an_unchecked_clause_with_a_test_is_found(tmp_path: Path) -> None:
    """A planted mark makes the excuse of its clause stale; a mention does not."""
    planted = read_clauses(_plant(tmp_path, _GOOD.replace("Checked by:", "Unchecked:")))
    _plant(tmp_path, f"# {_KNOWN}\n", "planted.py")
    assert _checked_after_all(planted, _marked(_files([tmp_path], ".py"))) == []
    mark = f'@pytest.mark.clause(\n    "{_OTHER}",\n    "{_KNOWN}",\n)\n'
    _plant(tmp_path, mark, "planted.py")
    assert _checked_after_all(planted, _marked(_files([tmp_path], ".py"))) == [_KNOWN]


@pytest.mark.parametrize(
    ("text", "replacement"),
    [
        ("CASE-" + "001 It", "CASE-" + "01 It"),
        ("CASE-" + "001 It", "CASE-" + "001"),
        ("Expected:", "Hoped for:"),
        (f"Clauses: {_KNOWN}", "Clauses: none"),
    ],
)
def test_a_malformed_case_is_found(tmp_path: Path, text: str, replacement: str) -> None:
    """A case without a proper id, a title, a part or a clause is reported."""
    good = f"# Area\n\n## CASE-{'001'} It\n\nScenario: a\nExpected: b\nClauses: {_KNOWN}\n"
    assert _malformed_cases(_plant(tmp_path, good)) == []
    assert len(_malformed_cases(_plant(tmp_path, good.replace(text, replacement)))) == 1


def test_a_good_clause_file_is_read(tmp_path: Path) -> None:
    """A sentence may go on over several lines, and titles are not part of a clause."""
    expected = Clause(
        id=_KNOWN,
        sentence="It holds.",
        source="us",
        check="a test",
        unchecked=None,
        file="planted.md",
    )
    assert read_clauses(_plant(tmp_path, _GOOD)) == (expected,)


@pytest.mark.parametrize(
    ("text", "replacement", "line", "message"),
    [
        (f"## {_KNOWN}", "## A-1", 5, "not a heading of the form"),
        (f"## {_KNOWN}", f"### {_KNOWN}", 5, "not a heading of the form"),
        (f"## {_KNOWN}", f"## {_KNOWN} It", 5, "not a heading of the form"),
        ("It\nholds.\n\n", "", 5, "no sentence"),
        ("holds.", "holds", 5, "no sentence that ends in a full stop"),
        ("holds.\n", "holds.\n\nAnd more.\n", 10, "this is a second one"),
        ("Source: us\n", "", 5, "no line `Source:`"),
        ("Source: us\n", "Source: us\nSource: them\n", 11, "this is a second one"),
        ("Source: us\n", "Source:\n", 10, "says nothing"),
        ("Checked by: a test\n", "", 5, "needs one line"),
        ("a test\n", "a test\nUnchecked: too early\n", 5, "needs one line"),
    ],
)
def test_a_malformed_clause_file_is_refused_with_its_line(
    tmp_path: Path, text: str, replacement: str, line: int, message: str
) -> None:
    """A part that is missing, doubled or misspelt stops the reading where it is."""
    assert text in _GOOD
    folder = _plant(tmp_path, _GOOD.replace(text, replacement))
    with pytest.raises(ClauseFormatError, match=rf"planted\.md:{line}: .*{message}"):
        read_clauses(folder)


def test_an_id_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    """An id is given once, also across files."""
    _plant(tmp_path, _GOOD, "first.md")
    _plant(tmp_path, _GOOD, "second.md")
    with pytest.raises(ClauseFormatError, match=rf"second\.md:5: {_KNOWN} .* of first\.md"):
        read_clauses(tmp_path)


def test_a_folder_without_clauses_is_refused(tmp_path: Path) -> None:
    """A specification that cannot be found is an error and not an empty one."""
    with pytest.raises(ClauseFormatError, match="no clause was found"):
        read_clauses(tmp_path)
