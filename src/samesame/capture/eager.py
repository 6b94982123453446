"""The program as it is written: while it is recorded, nothing that torch.compile made of it runs compiled.

torch's compiler has a switch for this, and throwing it loads the compiler: some 700 modules, Triton and the distributed
packages among them, most of the time of a short run. So a program that does not use the compiler is not made to load
it; where the program loads it itself, by whatever name, the switch is thrown as soon as it stands.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

import torch
from torch.utils._python_dispatch import TorchDispatchMode

COMPILER = "torch._dynamo"


class Watching(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """A mode that sees operators, those of higher order too. Torch would load the compiler to keep it out of one; where
    programs run eagerly it is out."""

    supports_higher_order_operators = True

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False


@contextmanager
def eagerly() -> Iterator[None]:
    """Programs run eagerly inside, also those that are compiled meanwhile."""
    with ExitStack() as stack:
        def switch() -> None:
            stack.enter_context(torch.compiler.set_stance("force_eager"))

        if COMPILER in sys.modules:
            switch()
            yield
            return
        finder = _Finder(switch)
        sys.meta_path.insert(0, finder)
        try:
            yield
        finally:
            if finder in sys.meta_path:
                sys.meta_path.remove(finder)


class _Finder(MetaPathFinder):
    """Finds the compiler as Python does, and has `then` called once it is loaded."""

    def __init__(self, then: Callable[[], None]) -> None:
        self.then = then

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != COMPILER:
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self.then)
        return spec


class _Loader(Loader):
    """A loader that calls `then` when its module stands; the module itself is told of the one behind it."""

    def __init__(self, behind: Loader, then: Callable[[], None]) -> None:
        self.behind, self.then = behind, then

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.behind.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__.loader = module.__loader__ = self.behind
        self.behind.exec_module(module)
        self.then()
