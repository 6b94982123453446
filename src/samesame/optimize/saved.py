"""Saved: what was found, as a folder that stands by itself.

    fast.py            the program and its drop-in, in one file that needs torch alone: `optimized(original)`
    certificate.json   every step of the proof, for `samesame replay`
    report.txt, .json  what was measured and proved
    and native sources beside fast.py, where it has some

The facts in fast.py hold digests of the files beside it, and the certificate those of all: where one was altered the
original runs, and `samesame replay` says so.
The folder is written beside its place and then renamed, so that there is never half of one; an earlier one stays
until then, and comes back where the last step fails. A folder that holds something else is left alone.
"""

from __future__ import annotations

import ast
import json
import os
import pprint
import shutil
from collections.abc import Mapping
from functools import cache
from inspect import getsource
from pathlib import Path
from threading import get_ident
from typing import Any

from samesame.certificate.replay import naming
from samesame.evidence import SamesameError
from samesame.optimize import built, dropin
from samesame.optimize.built import digest_of
from samesame.optimize.candidate import Candidate
from samesame.programs import spoken
from samesame.report.optimized import Report, in_full

FUTURE = "from __future__ import annotations\n"
NUMBERS = """
import sys
from importlib.util import module_from_spec, spec_from_file_location

inf, nan = float("inf"), float("nan")                      # as facts write them
"""
FAST, REPORT = "fast.py", "report.json"
USE = '''"""{title}, found by samesame {version}: {what}.

    from fast import optimized
    fast = optimized(original)                 # a module in the place of the original, with the original's weights
{changed}"""

'''
FOUND = '''

FACTS = {facts}
ALTERED = altered_in(Path(__file__).parent, FACTS["files"])


def made(original, weights):
    return Fast({taken})


def optimized(original, weights=None):
    """`original` with the program above in its place, wherever this is proved to compute the same. The weights of a
    function are variables of its file, or given by the names in FACTS."""
    return drop_in(original, made, FACTS, weights, {reference}, ALTERED)
'''
BESIDE = '''

def beside(name):
    """The module in a file beside this one, under a name by which whoever compiles or pickles it finds it."""
    spec = spec_from_file_location(f"{__name__}_{name}", Path(__file__).with_name(f"{name}.py"))
    sys.modules[spec.name] = module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


REFERENCE = None if ALTERED else beside("reference").Fast
'''
INCUMBENT = '''

WAY = {way!r}


def optimized(original, weights=None):
    """`original` compiled as was fastest. Freezing makes constants of tensors, which are watched: those of a module,
    and of a function those that are given by name. A function without these is compiled and not frozen."""
    if weights is None and not isinstance(original, nn.Module):
        return by_compiler(original, {{FROZEN: DEFAULT, BOTH: AUTOTUNED}}.get(WAY, WAY), {{}})
    return by_compiler(original, WAY, tensors_of(original) if weights is None else weights)


def tensors_of(module):
    """Parameters, buffers and tensors that are plain attributes of a module and its parts."""
    plain = {{(path, name): thing for path, part in module.named_modules() for name, thing in vars(part).items()
             if isinstance(thing, torch.Tensor)}}
    return {{**dict(module.named_parameters()), **dict(module.named_buffers()), **plain}}
'''


def python_file(candidate: Candidate, facts: Mapping[str, Any]) -> str:
    """One file with the candidate, its drop-in, and the facts."""
    own = candidate.source.replace(FUTURE, "")
    twice = names_in(own) & names_in(embedded())
    if twice:
        raise ValueError(f"a candidate defines {', '.join(sorted(twice))}, which the drop-in has")
    shown = pprint.pformat(dict(facts), width=116, sort_dicts=False)
    last = FOUND.format(facts=shown, taken="original" if candidate.whole else "weights",
                        reference="REFERENCE" if candidate.reference else None)
    return f"{FUTURE}{NUMBERS}{embedded()}\n\n{own.strip()}\n{last}{BESIDE if candidate.reference else ''}"


@cache
def embedded() -> str:
    """The text of the drop-in and of what it asks of a program and its code, without what must stand at the head of a
    file, and without what the one imports of the other."""
    return "\n\n".join(by_itself(getsource(part)) for part in (spoken, built, dropin))


def by_itself(text: str) -> str:
    imports = (node for node in ast.parse(text).body if isinstance(node, ast.ImportFrom))
    inside = {line for node in imports if str(node.module).startswith("samesame")
              for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    outside = [line for number, line in enumerate(text.splitlines(), 1) if number not in inside]
    return "\n".join(outside).split(FUTURE.strip(), 1)[1].strip() + "\n"


def names_in(text: str) -> set[str]:
    """What a file defines."""
    return {node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def files_of(candidate: Candidate, facts: Mapping[str, Any]) -> dict[str, str]:
    """The candidate as files by name."""
    beside = {**candidate.native, **({"reference.py": candidate.reference.source} if candidate.reference else {})}
    digests = {name: digest_of(text) for name, text in beside.items()}
    return {**beside, FAST: python_file(candidate, {**facts, "files": digests})}


def write_files(folder: Path, files: Mapping[str, str]) -> Path:
    """Write the files into a new folder: the Python file."""
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder / FAST


def require_room(folder: Path) -> None:
    """Raise SamesameError where the folder cannot be written, before any work is done for it."""
    if folder.exists() and not folder.is_dir():
        raise SamesameError(f"{folder} is a file; name a folder that is new, empty, or of an earlier run")
    if folder.exists() and any(folder.iterdir()) and not (folder / REPORT).exists():
        raise SamesameError(f"{folder} holds something else; name a folder that is new, empty, or of an earlier run")
    if not folder.resolve().parent.is_dir():
        raise SamesameError(f"cannot write {folder}: there is no folder {folder.resolve().parent}; create it")


def save(folder: Path, report: Report, files: Mapping[str, str], certificate: dict[str, Any] | None) -> None:
    """Write the folder, whole or not at all; `files` are what was found, if anything. Raises SamesameError."""
    require_room(folder)
    place = folder.resolve()
    whole, old = (place.with_name(f".{place.name}.{os.getpid()}.{get_ident()}.{part}") for part in ("tmp", "old"))
    try:
        try:
            fill(whole, report, files, certificate)
            if place.exists():
                place.rename(old)
            whole.rename(place)
        finally:
            if old.exists() and not place.exists():        # it ended between the two
                old.rename(place)
            shutil.rmtree(whole, ignore_errors=True)
            shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        kept = f"; what was there is in {old}" if old.exists() else ""
        raise SamesameError(f"cannot write {folder}: {error.strerror or error}{kept}") from None


def fill(folder: Path, report: Report, files: Mapping[str, str], certificate: dict[str, Any] | None) -> None:
    changed = "".join(f"\n{line}" for line in report.changed)
    opening = USE.format(title=report.title, version=report.versions.get("samesame", ""), what=report.headline,
                         changed=changed + "\n" if changed else "")
    compiled = f"{FUTURE}{embedded()}{INCUMBENT.format(way=report.way)}"
    code = {**files, FAST: opening + files.get(FAST, compiled)}
    told = {REPORT: json.dumps(report.form(), indent=1) + "\n", "report.txt": in_full(report, explain=True) + "\n"}
    if certificate is not None:
        bound = naming(certificate, {name: digest_of(text) for name, text in code.items()})
        told["certificate.json"] = json.dumps(bound, separators=(",", ":")) + "\n"
    write_files(folder, {**code, **told})
