"""What a run read: the files, modules and variables that its answer hangs on, so that one can tell later whether
anything has changed since.

Python tells an audit hook of every file that is opened and every module that is asked for. Beside these count: the
files of all modules that are loaded, with the content of each; names that were asked for and not found, and files that
would come before the ones that were found; folders that were listed; variables of the environment that were looked
up; checkpoint folders, whole; and what the user names (`reads`), such as a file that only C++ opens. A run that
started another process or opened a connection has read what nobody knows, and is not kept; neither is one of whose
files any changed while it ran.

Files of libraries are thousands, and the same for most runs: they are kept once, for all answers that read them.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib import util
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
INSTALLED = tuple({os.path.join(os.path.realpath(sysconfig.get_path(name)), "")
                   for name in ("stdlib", "platstdlib", "purelib", "platlib")} | {os.path.join(OURS, "")})
PYTHONS = os.path.join(sysconfig.get_path("stdlib"), "")
NO_FILES = ("/proc/", "/sys/", "/dev/")
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
UNSEEN = {"subprocess.Popen": "it started another process", "os.system": "it started another process",
          "os.posix_spawn": "it started another process", "os.exec": "it started another process",
          "socket.connect": "it opened a connection"}
ABSENT = ""


@dataclass(slots=True)
class Reads:
    """What has been read since `watch`. `began` is when the first program could have been loaded, `environment` the
    variables of that moment: what a program sets for itself is none that it reads."""

    began: float
    environment: dict[str, str]
    files: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)
    variables: set[str] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)
    unseen: str = ""
    over: bool = False                      # what is done from now on is ours, and the program has no part in it

    def watch(self) -> None:
        """Begin to listen, until it is over."""
        heard: dict[str, Callable[..., None]] = {
            "open": self._opened, "import": self._imported, "os.listdir": self._listed, "os.scandir": self._listed,
            "ctypes.dlopen": lambda name: self._opened(name, "r", 0),
        }

        def hook(event: str, values: tuple[Any, ...]) -> None:
            if self.over:
                return
            if event in heard:
                heard[event](*values)
            elif event in UNSEEN:
                self.unseen = UNSEEN[event]

        sys.addaudithook(hook)
        os.environ._data = _Asked(os.environ._data, self.variables)           # type: ignore[attr-defined]
        self._safetensors()

    def _opened(self, path: Any, mode: Any, flags: Any, *_: Any) -> None:
        if isinstance(path, str | bytes | os.PathLike) and not _writes(mode, flags):
            self.files.add(os.path.abspath(os.fsdecode(path)))

    def _imported(self, name: str, *_: Any) -> None:
        self.asked.add(name.partition(".")[0])

    def _listed(self, path: Any) -> None:
        """What an import looks for is known by the names asked for, and what libraries look for along sys.path, such as
        plugins, is no part of the program."""
        importing = sys._getframe(2).f_code.co_filename.startswith("<frozen importlib")
        if isinstance(path, str | bytes | os.PathLike) and not importing:
            folder = os.path.abspath(os.fsdecode(path))
            if folder not in map(os.path.abspath, sys.path) or not _by_library():
                self.folders.add(folder)

    def _safetensors(self) -> None:
        """Its files are opened by Rust, of which no hook hears."""
        import safetensors
        import safetensors.torch

        reader = safetensors.safe_open

        def safe_open(filename: Any, *values: Any, **named: Any) -> Any:
            self._opened(filename, "r", 0)
            return reader(filename, *values, **named)

        for module in safetensors, safetensors.torch:
            setattr(module, "safe_open", safe_open)                           # noqa: B010

    def form(self, extra: Iterable[str]) -> tuple[dict[str, Any], dict[str, Any]]:
        """All of it as data, with digests of now; and that of libraries. `unseen` says why it cannot be known."""
        files = {path for path in self.files if not path.endswith(".pyc")} | {file for _, file in _modules()}
        files |= {path for name in extra for path in _all_in(name)}
        files = {path for path in files if not path.startswith(NO_FILES)}
        own = {path for path in files if not _installed(path)}
        if any(_changed_since(path, self.began) for path in own):
            self.unseen = self.unseen or "a file that it read changed while it ran"
        loaded = {name.partition(".")[0] for name in sys.modules}
        mine = {name.partition(".")[0] for name, file in _modules() if not _installed(file)}
        missing = self.asked - loaded
        places = [place for place in map(os.path.abspath, sys.path) if os.path.isdir(place) and not _installed(place)]
        return {
            "files": {path: digest(path) for path in sorted(own)},
            "folders": {path: _names(path) for path in sorted(self.folders) if not _installed(path)},
            "variables": {name: _sealed(self.environment.get(name)) for name in sorted(self.variables)},
            "names": sorted(mine),
            "missing": sorted(missing),
            "importable": {place: sorted(_importable(place) & (loaded | missing)) for place in places},
            "unseen": self.unseen,
        }, {"files": {path: digest(path) for path in sorted(files - own)}, "names": sorted(loaded - mine)}


def unchanged(form: dict[str, Any], libraries: dict[str, Any]) -> bool:
    """Would a run read the same now?"""
    return (
        all(digest(path) == found for path, found in form["files"].items())
        and all(_names(path) == found for path, found in form["folders"].items())
        and all(_sealed(os.environ.get(name)) == found for name, found in form["variables"].items())
        and not any(_is_found(name) for name in form["missing"])
        and _nothing_in_front(form, {*libraries["names"], *form["names"], *form["missing"]})
        and all(digest(path) == found for path, found in libraries["files"].items())
    )


class Shelf(Protocol):
    """Where answers lie, by key."""

    def get(self, key: str) -> dict[str, Any] | None: ...
    def add(self, key: str, form: dict[str, Any]) -> None: ...


def recall(shelf: Shelf, key: str) -> dict[str, Any] | None:
    """What was kept, where all that it was read from is as it was then."""
    form = shelf.get(key)
    libraries = shelf.get(form["libraries"]) if form else None
    return form if form and libraries and unchanged(form["reads"], libraries) else None


def keep(shelf: Shelf, key: str, form: Mapping[str, Any], reads: Mapping[str, Any], libraries: dict[str, Any]) -> None:
    """Keep a form with what was read for it."""
    named = digest_of(libraries)
    if shelf.get(named) is None:
        shelf.add(named, libraries)
    shelf.add(key, {**form, "reads": reads, "libraries": named})


def _nothing_in_front(form: dict[str, Any], names: set[str]) -> bool:
    """Do the user's own folders still offer the same of the modules that were asked for?"""
    return all(_importable(place) & names == set(found) for place, found in form["importable"].items())


# ---------------------------------------------------------------------------------------------------- what there is now


@cache
def digest(path: str) -> str:
    """Of a file's content, taken once in this process; nothing for what is no file."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return ABSENT
        with open(path, "rb") as file:
            found = sha256()
            while part := file.read(1 << 20):
                found.update(part)
            return found.hexdigest()[:32]
    except OSError:
        return ABSENT


def digest_of(form: Any) -> str:
    """Of data, however its keys are ordered."""
    return sha256(json.dumps(form, sort_keys=True).encode()).hexdigest()


@cache
def _names(folder: str) -> str:
    try:
        return digest_of(sorted(name for name in os.listdir(folder) if name != "__pycache__"))
    except OSError:
        return ABSENT


@cache
def _importable(folder: str) -> frozenset[str]:
    """The names of modules and packages in a folder."""
    try:
        with os.scandir(folder) as found:
            return frozenset(entry.name.partition(".")[0] for entry in found
                             if entry.name.endswith((".py", ".so", ".pyd")) or entry.is_dir())
    except OSError:
        return frozenset()


@cache
def _is_found(name: str) -> bool:
    try:
        return util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _sealed(value: str | None) -> str:
    """A digest of a variable: it may be a secret."""
    return ABSENT if value is None else sha256(os.fsencode(value)).hexdigest()[:32]


def _changed_since(path: str, began: float) -> bool:
    try:
        return os.stat(path).st_mtime >= began
    except OSError:
        return False


@cache
def _installed(path: str) -> bool:
    whole = os.path.join(path, "")
    return os.path.join(os.path.realpath(path), "").startswith(INSTALLED) or any(
        f"{os.sep}{name}{os.sep}" in whole for name in ("site-packages", "dist-packages"))


def _by_library() -> bool:
    """Is it a library that runs now, whatever of Python's own it calls?"""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if (file != __file__ and not file.startswith(("<", PYTHONS))) or "-packages" in file:
            return _installed(file)
        frame = frame.f_back
    return True


def _modules() -> Iterator[tuple[str, str]]:
    """The modules that are loaded, each with its file."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and os.path.isabs(file):
            yield name, file


def _all_in(name: str) -> Iterator[str]:
    """A file, or all files of a folder."""
    path = Path(os.path.abspath(name))
    if path.is_dir():
        yield from (str(file) for file in path.rglob("*") if file.is_file())
    else:
        yield str(path)


def _writes(mode: Any, flags: Any) -> bool:
    if isinstance(mode, str):
        return any(letter in mode for letter in "wax+")
    return isinstance(flags, int) and bool(flags & WRITES)


class _Asked(dict[Any, Any]):
    """The environment's own dict, which keeps the names that are looked up; a library that copies all of it, to hand it
    on, looks up none."""

    def __init__(self, variables: dict[Any, Any], names: set[str]) -> None:
        super().__init__(variables)
        self.names = names
        self.copied: list[Any] = []

    def __iter__(self) -> Iterator[Any]:
        self.copied = list(super().__iter__())[::-1] if _by_library() else []
        return super().__iter__()

    def __getitem__(self, name: Any) -> Any:
        if self.copied and self.copied[-1] == name:
            self.copied.pop()
        else:
            self.names.add(os.fsdecode(name))
        return super().__getitem__(name)
