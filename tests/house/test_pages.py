"""The pages that the house draws are written once, and the check names a stale one."""

from pathlib import Path

import pytest

from . import pages


def test_a_stale_page_is_named_and_only_that_one_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pipeline is told what to render again."""
    monkeypatch.setattr(pages, "generated_folder", lambda: tmp_path)
    assert pages.main([]) == 0
    written = {path.name for path in tmp_path.iterdir()}
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
