"""A worker: a process in which torch and the compiler are warm, and which forks for every case (`apart.py`).

A case is a JSON line on stdin and its result a JSON line on stdout.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import nullcontext

from samesame.fuzz.reached import Lines, watching


def main() -> None:
    """Read cases until stdin ends."""
    settings = json.loads(sys.stdin.readline())
    results = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what programs and compilers print is no result
    known: Lines = {}
    with watching(known) if settings["feedback"] else nullcontext():
        from samesame.fuzz.tasks import done, warm

        warm(settings)
    print(json.dumps({"lines": {file: sorted(lines) for file, lines in known.items()}}), file=results, flush=True)
    for line in sys.stdin:
        print(json.dumps(done(json.loads(line), settings, known)), file=results, flush=True)


if __name__ == "__main__":
    main()
