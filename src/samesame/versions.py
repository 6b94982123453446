"""Versions of what a verdict was reached with: Python, samesame, and the packages whose programs it speaks of; and of
the code that a proof rests on, as digests."""

from __future__ import annotations

import platform
from functools import cache
from hashlib import sha256
from importlib import metadata
from pathlib import Path

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


@cache
def code() -> str:
    """A digest of all of samesame's files."""
    here, found = Path(__file__).parent, sha256()
    for file in sorted(file for file in here.rglob("*") if file.is_file() and "__pycache__" not in file.parts):
        found.update(str(file.relative_to(here)).encode() + b"\0" + file.read_bytes())
    return found.hexdigest()[:12]


@cache
def versions() -> tuple[str, str]:
    """The versions of the prover and of the operators' meanings: digests of the code that a proof rests on."""
    try:
        release = metadata.version("samesame")
    except metadata.PackageNotFoundError:
        release = "0"
    here = Path(__file__).parent
    return f"{release}+{_digest(here / 'formula', here / 'relate')}", f"{release}+{_digest(here / 'operators')}"


def _digest(*folders: Path) -> str:
    found = sha256()
    for file in sorted(file for folder in folders for file in folder.glob("*.py")):
        found.update(file.name.encode() + b"\0" + file.read_bytes())
    return found.hexdigest()[:12]
