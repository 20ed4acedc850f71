"""The pages that the house draws are written once, and the check names a stale one."""

from pathlib import Path

import pytest

from . import pages
from .verdict_table import with_table

_PLACE = "<!-- The table is written by `make docs`. -->\nold\n<!-- The end of the table. -->"


def test_a_stale_page_is_named_and_only_that_one_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pipeline is told what to render again."""
    monkeypatch.setattr(pages, "generated_folder", lambda: tmp_path)
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    (tmp_path / "README.md").write_text(f"before\n\n{_PLACE}\n\nbehind\n", encoding="utf-8")
    assert pages.main([]) == 0
    written = {path.name for path in tmp_path.iterdir()} - {"README.md"}
    assert written == set(pages.house_pages()) > {"records.md", "records.schema.json"}
    assert pages.main(["--check"]) == 0
    (tmp_path / "records.md").write_text("old")
    capsys.readouterr()
    assert pages.main(["--check"]) == 1
    assert pages.main([]) == 0
    told = capsys.readouterr()
    assert "records.md" in told.err
    assert told.out == f"wrote {tmp_path / 'records.md'}\n"
    assert pages.main(["--check"]) == 0


def test_the_table_of_the_readme_stands_in_its_place_and_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What stands around the table stays, and a table that was edited is stale."""
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n\n{_PLACE}\n\nbehind\n", encoding="utf-8")
    monkeypatch.setattr(pages, "generated_folder", lambda: tmp_path / "generated")
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    assert pages.main([]) == 0
    text = readme.read_text(encoding="utf-8")
    assert text.startswith("before\n\n<!--")
    assert text.endswith("-->\n\nbehind\n")
    assert text.count("\n| [INV-") == 21
    readme.write_text(text.replace("●", "", 1), encoding="utf-8")
    assert pages.main(["--check"]) == 1
    assert "README.md" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["no place", f"{_PLACE}\n{_PLACE}"])
def test_a_readme_without_one_place_for_the_table_is_refused(text: str) -> None:
    """A table that nobody sees is not written nowhere."""
    with pytest.raises(ValueError, match="once"):
        with_table(text)
