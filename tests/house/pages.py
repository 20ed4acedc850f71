"""The pages that are drawn from more than the declaration: specs/generated, a table of the README.

    python -m tests.house.pages            write them
    python -m tests.house.pages --check    write nothing; name the pages that are stale

Exit status: 0 when all are fresh, 1 when one is stale, 2 for a bad command.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from statemachine.render import generated_folder, stale, write

from .claims_page import claims_page
from .places import places_page
from .record_page import record_pages
from .seam_page import seams_page
from .traceability import traceability_page
from .tree import ROOT
from .verdict_table import README, with_table

__all__ = ["house_pages", "main"]


def house_pages() -> dict[str, str]:
    """Return the pages by file name."""
    return {
        **record_pages(),
        "claims.md": claims_page(),
        "places.md": places_page(),
        "seams.md": seams_page(),
        "traceability.md": traceability_page(),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or compare the pages and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.house.pages")
    parser.add_argument("--check", action="store_true", help="write nothing; name stale pages")
    is_check = parser.parse_args(arguments).check
    act = stale if is_check else write
    names = [folder / name for folder, rendered in _by_folder() for name in act(folder, rendered)]
    for name in names:
        if is_check:
            sys.stderr.write(f"stale: {name}; run `make docs`\n")
        else:
            sys.stdout.write(f"wrote {name}\n")
    return 1 if is_check and names else 0


def _by_folder() -> tuple[tuple[Path, dict[str, str]], ...]:
    readme = (ROOT / README).read_text(encoding="utf-8")
    return (generated_folder(), house_pages()), (ROOT, {README: with_table(readme)})


if __name__ == "__main__":
    sys.exit(main())
