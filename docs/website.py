"""The docs as a site under a folder: `make site`.

The pages are laid out as they lie in the repository, so that a link between them means the same there and here; mkdocs
(mkdocs.yml) makes HTML of them, and is strict about links. The API from docstrings (docs/api.py) stands beside them.
The site opens from disk, with its search, and fetches nothing.
"""

from __future__ import annotations

import logging
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGES = ("*.md", "docs/*.md", "benchmarks/*.md")
BESIDE = ("docs/assets/*", "docs/img/*", "docs/findings/*.py")        # what they show and link to


def lay_out(folder: Path) -> None:
    """Copy the pages and what stands beside them."""
    for pattern in (*PAGES, *BESIDE):
        for file in ROOT.glob(pattern):
            copy = folder / file.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, copy)


def site(folder: Path) -> Path:
    """Make the site without the API, and give its folder. Exits where a link or the table of contents is wrong."""
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    pages, html = folder / "pages", folder / "html"
    shutil.rmtree(folder, ignore_errors=True)
    lay_out(pages)
    config = load_config(str(ROOT / "mkdocs.yml"), docs_dir=str(pages), site_dir=str(html))
    config.plugins.on_startup(command="build", dirty=False)
    build(config)
    config.plugins.on_shutdown()
    return html


if __name__ == "__main__":
    logging.basicConfig(format="%(message)s", level=logging.WARNING)       # what mkdocs finds wrong
    made = site(Path(sys.argv[1]).resolve())
    subprocess.run([sys.executable, str(ROOT / "docs" / "api.py"), str(made / "api")], check=True)
    print(f"the site: {made / 'index.html'}")
