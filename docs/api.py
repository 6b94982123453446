"""The API from docstrings, as HTML under build/api: `make api`.

Exports are loaded when they are first used, so they are used here once, for pdoc to see them.
"""

import sys
import warnings
from pathlib import Path
from pkgutil import walk_packages

import pdoc

import samesame

COMMANDS = ("samesame.cli", "samesame.fuzz.worker")        # what they do stands in docs/cli.md

warnings.filterwarnings("ignore", module="pdoc")           # modules named twice, annotations only a type checker reads
vars(samesame).update({name: getattr(samesame, name) for name in samesame.__all__})
modules = [found.name for found in walk_packages(samesame.__path__, "samesame.")]
folder = Path(sys.argv[1])
pdoc.render.configure(show_source=False)                   # with it these are a hundred megabytes
pdoc.pdoc("samesame", *(name for name in modules if not name.startswith(COMMANDS)), output_directory=folder)
print(f"{len(modules)} modules in {folder / 'index.html'}")
