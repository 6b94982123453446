"""What is recorded runs eagerly, and a program that does not use torch's compiler does not load it."""

from __future__ import annotations

import subprocess
import sys
from textwrap import dedent

PROGRAM = dedent("""
    import sys

    import samesame.check, samesame                            # a module of the name of a verb, before the verb
    from samesame import check
    assert samesame.check is check and check.__name__ == "check"

    import torch
    from torch import compile

    from samesame.capture import capture

    def plain(x):
        return (x * 2).sum(-1)

    def other(x):
        return 2 * x.sum(-1)

    x = (torch.randn(3, 4),)
    assert check(plain, other, x).verdict == "same"
    loaded = [name for name in ("torch._dynamo", "triton", "sympy") if name in sys.modules]
    assert not loaded, loaded

    import samesame.capture.targets                            # which know of files of every kind
    assert not [name for name in sys.modules if name.startswith("onnx")]

    def compiled_meanwhile(x):
        return compile(plain)(x)

    graph = capture(compiled_meanwhile, x)                     # loads the compiler, and runs eagerly all the same
    assert "torch._dynamo" in sys.modules
    assert [node.operator for node in graph.nodes] == [node.operator for node in capture(plain, x).nodes]
    assert not torch._dynamo.utils.counters["stats"]           # nothing was compiled
    assert sys.modules["torch._dynamo"].__spec__.loader.__class__.__name__ != "_Loader"

    from samesame import assert_same
    assert callable(assert_same)
""")


def test_the_compiler_is_not_loaded_where_it_is_not_used() -> None:
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
