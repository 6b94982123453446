"""Why host code around kernels could not go on: one sentence that names the user's line and says what to do.

Host code runs on fake tensors, so what needs values or a device fails somewhere in torch or Triton; the reason is
often a cause behind the error that came out (`torch.testing.assert_close` wraps it).
"""

from __future__ import annotations

from collections.abc import Iterator

from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    UnsupportedFakeTensorException,
)
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

from samesame.evidence import Refused
from samesame.programs.origins import line_of_error

DATA_DECIDES = (
    DataDependentOutputException,
    DynamicOutputShapeException,
    GuardOnDataDependentSymNode,
)
LONGEST = 200                               # of torch's messages; the first sentence of a longer one is enough
MEASURES = "get_empty_cache_for_benchmark"  # what `triton.testing` asks a driver for


def reason(error: Exception) -> str:
    """The sentence about an error that host code raised."""
    where = line_of_error(error)
    spoken = where.spoken if where.file else "the launch function"
    text = first_line(error)
    for cause in causes(error):
        if isinstance(cause, DATA_DECIDES):
            what = getattr(cause, "func", None)
            how = f" ({what})" if what is not None else ""
            return (
                f"{spoken} lets values of tensors decide what the host does{how}, so no launch can be known without "
                "them; pass the number as an argument, and compare results elsewhere"
            )
    if "outside of the scope of a kernel" in text:
        return f"{spoken} calls a kernel without a grid; write kernel[grid](…)"
    if MEASURES in text:
        return f"{spoken} measures how long a launch takes, which needs a real CUDA device; launch it without that"
    cuda = "CUDA" in text or "cuda" in text or isinstance(error, UnsupportedFakeTensorException)
    if cuda or "dummy base class" in text:
        return f"{spoken} needs a real CUDA device ({type(error).__name__}: {text}); launch the kernel without it"
    return f"{spoken} raises {type(error).__name__}: {text}"


def about_import(refused: Refused, file: str) -> Refused:
    """What is said of a file that could not be imported. A tensor made there on a device, and a launch, have sentences
    of their own."""
    cause = refused.__cause__
    where = line_of_error(cause).spoken if cause is not None and line_of_error(cause).file else file
    if isinstance(cause, Refused):
        return Refused(f"{where}: {cause}")
    if isinstance(cause, NotImplementedError) and "'CUDA' backend" in str(cause):
        return Refused(
            f"{where} makes a tensor on a CUDA device while the file is imported; make it in the function that launches"
        )
    return refused


def causes(error: BaseException) -> Iterator[BaseException]:
    """The error, and those that led to it."""
    found: BaseException | None = error
    while found is not None:
        yield found
        found = found.__cause__ or (None if found.__suppress_context__ else found.__context__)


def first_line(error: BaseException) -> str:
    text = (str(error).strip().splitlines() or ["no message"])[0]
    return text if len(text) <= LONGEST else text.partition(". ")[0]
