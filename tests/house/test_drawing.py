"""What is drawn without chance is the same wherever and beside whatever it is drawn."""

import sys
from pkgutil import walk_packages

import pytest
import rfc_corpus

import runtime
import statemachine


@pytest.mark.parametrize("package", [rfc_corpus, runtime, statemachine], ids=lambda it: it.__name__)
def test_every_module_is_loaded_before_anything_is_drawn(package: object) -> None:
    """Hypothesis draws from the constants of loaded modules, so that set must not vary."""
    path, name = package.__path__, package.__name__  # type: ignore[attr-defined]  # a package
    missing = {found.name for found in walk_packages(path, f"{name}.")} - set(sys.modules)
    assert missing == set()
