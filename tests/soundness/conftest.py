"""The claims and samples of the other tests are read here too."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent.parent / folder) for folder in ("formula", "operators")]
