"""The declaration as pages for readers: tables and diagrams of `specs/generated`.

Everything here is computed from the declaration and from what the explorer found, so a page cannot
say anything else than the machine does. `stale` compares; only `python -m statemachine render`
writes.
"""

from .files import GENERATED, NotACheckoutError, generated_folder, stale, write
from .pages import pages

__all__ = ["GENERATED", "NotACheckoutError", "generated_folder", "pages", "stale", "write"]
