"""The pages of specs/generated that are drawn from more than the declaration.

    python -m tests.house.pages            write them
    python -m tests.house.pages --check    write nothing; name the pages that are stale

Exit status: 0 when all are fresh, 1 when one is stale, 2 for a bad command.
"""

import argparse
import sys
from collections.abc import Sequence

from statemachine.render import generated_folder, stale, write

from .claims_page import claims_page
from .places import places_page
from .record_page import record_pages
from .seam_page import seams_page
from .traceability import traceability_page

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
    folder, rendered = generated_folder(), house_pages()
    if not is_check:
        for name in write(folder, rendered):
            sys.stdout.write(f"wrote {folder / name}\n")
        return 0
    late = stale(folder, rendered)
    for name in late:
        sys.stderr.write(f"stale: {folder / name}; run `make docs`\n")
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
