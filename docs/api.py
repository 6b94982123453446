"""The API from docstrings, as HTML under build/api: `make api`.

Exports are loaded when they are first used, so they are used here once, for pdoc to see them.
"""

import sys
from pathlib import Path
from pkgutil import walk_packages

import pdoc

import samesame

COMMANDS = ("samesame.cli", "samesame.fuzz.worker")        # what they do stands in docs/cli.md

vars(samesame).update({name: getattr(samesame, name) for name in samesame.__all__})
modules = [found.name for found in walk_packages(samesame.__path__, "samesame.")]
folder = Path(sys.argv[1])
pdoc.pdoc("samesame", *(name for name in modules if not name.startswith(COMMANDS)), output_directory=folder)
print(f"{len(modules)} modules in {folder / 'index.html'}")
