"""Versions of what a verdict was reached with: Python, samesame, and the packages whose programs it speaks of."""

from __future__ import annotations

import platform
from importlib import metadata

PACKAGES = ("samesame", "torch", "z3-solver", "transformers")


def versions_of_packages() -> dict[str, str]:
    """Versions by package; "not installed" for one that is not."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found
