"""Where the generated pages lie, and whether they are fresh."""

from pathlib import Path
from typing import Final

__all__ = ["GENERATED", "NotACheckoutError", "generated_folder", "stale", "write"]

GENERATED: Final = "specs/generated"


class NotACheckoutError(RuntimeError):
    """The package does not stand in a checkout, so there is nowhere to write to."""


def generated_folder() -> Path:
    """Return the folder of generated pages of the checkout that this package stands in.

    Raises:
        NotACheckoutError: this is an installed package.
    """
    root = Path(__file__).resolve().parent.parent.parent
    if not (root / "pyproject.toml").is_file() or not (root / "specs").is_dir():
        raise NotACheckoutError(
            f"{root} is no checkout of the project: there is no pyproject.toml beside a folder "
            "specs. Run this from a clone."
        )
    return root / GENERATED


def stale(folder: Path, rendered: dict[str, str]) -> tuple[str, ...]:
    """Return the names of the pages that are missing or say something else."""
    return tuple(name for name, text in rendered.items() if _read(folder / name) != text)


def write(folder: Path, rendered: dict[str, str]) -> tuple[str, ...]:
    """Write the pages that are stale and return their names."""
    changed = stale(folder, rendered)
    folder.mkdir(parents=True, exist_ok=True)
    for name in changed:
        (folder / name).write_text(rendered[name], encoding="utf-8")
    return changed


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None
