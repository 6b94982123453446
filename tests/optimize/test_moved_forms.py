"""What only moves elements, or reads them along a diagonal, as forms: it is what torch does, in kernels too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from optimize.agreeing import agree, drawn, is_precise, printed, proved
from optimize.named import worked_out
from optimize.test_reassociation import written
from optimize.test_windows import first
from samesame.capture import capture
from samesame.formula.expr import Unsupported
from samesame.optimize.algebra import specified
from samesame.optimize.dropin import EAGER
from samesame.optimize.emit.torch_ops import source
from samesame.optimize.facts import facts_of
from samesame.optimize.forms import load
from samesame.optimize.job import loaded
from samesame.optimize.read import read
from samesame.optimize.reading import Value
from samesame.optimize.saved import files_of, write_files

DTYPES = st.sampled_from([torch.float32, torch.float64, torch.bfloat16, torch.int64])
FEW = st.integers(1, 4)


def shape_of(data: st.DataObject, least: int = 1, most: int = 4) -> list[int]:
    return data.draw(st.lists(FEW, min_size=least, max_size=most))


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_shuffles(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    n, lead = data.draw(st.integers(1, 3)), shape_of(data, 0, 2)
    image = [data.draw(FEW) for _ in range(3)]
    if data.draw(st.booleans()):
        program, shape = nn.PixelShuffle(n), [*lead, image[0] * n * n, *image[1:]]
    elif data.draw(st.booleans()):
        program, shape = nn.PixelUnshuffle(n), [*lead, image[0], image[1] * n, image[2] * n]
    else:
        program, shape = (lambda x: F.channel_shuffle(x, n)), [data.draw(FEW), image[0] * n, *image[1:]]
    x = (10 * torch.randn(shape)).to(data.draw(DTYPES))
    agree(lambda x: program(x) + 1, x, folder=tmp_path_factory.mktemp("shuffle"))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int64])
def test_a_number_takes_the_dtype_of_a_tensor_of_one_element(dtype: torch.dtype, tmp_path: Path) -> None:
    agree(lambda x: (x + 1, 2 - x), torch.full((1, 1, 1), 3, dtype=dtype), folder=tmp_path)


@pytest.mark.parametrize("copy", [lambda x: torch.cat([x]), lambda x: x.clone(), lambda x: F.pad(x, (0, 0)),
                                  lambda x: x])
def test_a_copy_that_is_returned_has_memory_of_its_own(copy, tmp_path: Path) -> None:
    x = drawn(4, 3)
    program = lambda x: (copy(x), x.sin())                                 # noqa: E731
    specification = specified(program, (x,), capture(program, (x,)))
    fast = written(source(specification, [root.form for root in specification.roots()]), tmp_path)
    first, _ = fast(x)
    assert torch.equal(first, x) and (first.data_ptr() == x.data_ptr()) == (copy(x) is x)


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_what_is_turned_round(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    shape = shape_of(data, 2)
    rank = len(shape)
    dims = data.draw(st.lists(st.integers(-rank, rank - 1), max_size=rank, unique_by=lambda d: d % rank))
    first, second = data.draw(st.permutations(range(rank)))[:2]
    times, parts = data.draw(st.integers(-4, 4)), data.draw(st.sampled_from([2, 3]))
    x = (10 * torch.randn([*shape[:-1], shape[-1] * parts])).to(data.draw(DTYPES))

    def turned(x):
        split = x.unflatten(-1, (shape[-1], parts)).flatten(-2)
        return (x.flip(dims) * 2, torch.rot90(x, times, (first, second)),
                x.flip(-1).unflatten(-1, (-1, parts)).flip(-2), split.flip(-1)[..., :parts] + x[..., -parts:])

    agree(turned, x, folder=tmp_path_factory.mktemp("turned"))


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_diagonals(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    shape = shape_of(data, 2)
    rank = len(shape)
    first, second = data.draw(st.permutations(range(-rank, 0)))[:2]
    offset = data.draw(st.integers(1 - shape[first], shape[second] - 1))
    x = torch.randn(shape)
    agree(lambda x: (torch.diagonal(x, offset, first, second) * 2, torch.diagonal(x @ x.mT, 0, -1, -2)), x,
          folder=tmp_path_factory.mktemp("diagonal"))


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_borders(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    rank, mode = data.draw(st.integers(1, 3)), data.draw(st.sampled_from(["reflect", "replicate", "circular"]))
    inner = [data.draw(st.integers(1, 4)) for _ in range(rank)]
    least = 1 if mode == "reflect" else 0
    widths = [data.draw(st.integers(0, 5 if mode == "replicate" else n - least)) for n in reversed(inner) for _ in "ab"]
    x = torch.randn(2, 3, *inner).to(data.draw(st.sampled_from([torch.float32, torch.float64, torch.bfloat16])))
    agree(lambda x: F.pad(torch.tanh(x), widths, mode=mode), x, folder=tmp_path_factory.mktemp("border"))


SQUARE = torch.randn(2, 3, 4, 4)
A, B = drawn(2, 5, 3), drawn(3, 5, 3)[1:]
OTHERS = {
    "a trace": (lambda x: (torch.einsum("bcii->bc", x), torch.einsum("bcij,bcjk,bckk->ib", x, x, x), x[0, 0].trace()),
                SQUARE),
    "a diagonal": (lambda x: (torch.einsum("bcii->ibc", x @ x), torch.diag(x[0, 0]), torch.diagonal(x.softmax(-1), 1)),
                   SQUARE),
    "correlations": (lambda x: torch.corrcoef(x), torch.randn(3, 9)),
    "crosses": (lambda a, b: (torch.linalg.cross(a, b), torch.linalg.cross(a, b[:1]),
                              torch.linalg.cross(a.mT, b.mT, dim=1), torch.linalg.cross(a.exp(), a)), A, B),
    "two vectors": (nn.Bilinear(3, 3, 4).eval(), A, B),
    "... without a bias": (nn.Bilinear(3, 3, 4, bias=False).eval(), A, B),
    "ones": (lambda x: (torch.eye(4) + x, torch.eye(4, 3), x @ torch.eye(4, 2)), SQUARE),
    "ones that are integers": (lambda i: torch.eye(2, 4, dtype=torch.int64) + i, torch.arange(4)),
    "classes": (lambda i: (F.one_hot(i, 5), F.one_hot(i, 5).float() @ torch.ones(5, 2)), torch.arange(4).view(2, 2)),
    "a class": (lambda i: F.one_hot(i[0], 3), torch.tensor([2])),
    "upside down": (lambda x: (torch.flipud(x), torch.fliplr(x)), SQUARE),
    "a mirror that is convolved": (lambda x: F.avg_pool2d(F.pad(x, (1, 1, 1, 1), mode="reflect"), 3, 1), SQUARE),
    "an ellipsis": (lambda x: torch.einsum("...ij->...ji", x) + torch.einsum("...ii->...i", x)[..., None], SQUARE),
    "an ellipsis that stands for more": (lambda x, w: torch.einsum("...ij,kj...->k...i", x, w), SQUARE, drawn(5, 4, 3)),
    "an ellipsis that broadcasts": (lambda x, w: torch.einsum("...ij,...jk->...ik", x, w), SQUARE, drawn(2, 1, 4, 3)),
    "no result that is named": (lambda x, w: torch.einsum("bcij,kA", x, w) + torch.einsum("...ij,jk", x, w).sum(),
                                SQUARE, drawn(4, 3)),
    "letters that broadcast": (lambda x, w: torch.einsum("bcij,bjk->ik", x, w), SQUARE, drawn(1, 4, 3)),
    "what is computed, and its mirror": (lambda x: (lambda y: y + y.flip(-1))(x @ x), SQUARE),
}
CALLS = {
    "numbers that data counts": (lambda i: F.one_hot(i, 5)[0] + torch.bincount(i, minlength=5), torch.tensor([1, 2])),
    "the end of what is joined": (lambda x: torch.cat([x, 2 * x], -1).flip(-1), SQUARE),
    "crosses of integers": (lambda i: torch.linalg.cross(i, i + 1), torch.tensor([[1, 2, 3]])),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_moves(name: str, tmp_path: Path) -> None:
    agree(*OTHERS[name], folder=tmp_path)


@pytest.mark.parametrize("name", CALLS)
def test_what_stays_a_call(name: str, tmp_path: Path) -> None:
    agree(*CALLS[name], folder=tmp_path, calls=True)


def test_a_cross_product_and_two_vectors_are_precise(tmp_path: Path) -> None:
    is_precise(lambda a, b: torch.linalg.cross(a, b), A, B, folder=tmp_path)
    is_precise(lambda a, b, w: F.bilinear(a, b, w), A, B, drawn(4, 3, 3), folder=tmp_path)


def test_what_is_computed_is_computed_once_for_its_mirror(tmp_path: Path) -> None:
    fast, _ = printed(OTHERS["what is computed, and its mirror"][0], SQUARE, folder=tmp_path)
    assert (tmp_path / "fast.py").read_text().count("@") <= 1 and fast is not None


PROVED = {
    "shuffled": (nn.PixelShuffle(2), torch.randn(2, 8, 3, 4)), "not": (nn.PixelUnshuffle(2), torch.randn(2, 8, 6, 4)),
    "turned": (lambda x: torch.rot90(x, 1, (1, 2)).flip(-1, 0), SQUARE),
    "a diagonal": (lambda x: torch.diagonal(x @ x.mT, 1, -1, -2), SQUARE),
    "a mirror": (nn.ReflectionPad2d((1, 2, 2, 0)), SQUARE), "edges": (nn.ReplicationPad1d((2, 3)), SQUARE[0]),
    "crosses": (lambda a, b: torch.linalg.cross(a, b), A, B), "ones": (lambda x: x + torch.eye(4), SQUARE),
    "two vectors": (nn.Bilinear(3, 3, 4).eval(), A, B), "classes": (lambda i: F.one_hot(i, 4), torch.tensor([1, 3])),
}


@pytest.mark.parametrize("name", PROVED)
def test_moves_are_proved_to_be_what_the_operator_means(name: str) -> None:
    assert proved(*PROVED[name])


class Turned(nn.Module):
    """Much of it from the end, along rows that are longer than a vector's lanes, and at places that are not."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mirrored = F.pad(x, (3, 2, 1, 1), mode="reflect")
        y = torch.tanh(x.flip(-1)) + x.flip(-2).exp().flip(-1) + mirrored[..., 1:-1, 3:-2]
        return y / (1 + y.flip(-1).abs().sum(-1, keepdim=True)) + torch.diagonal(x, 0, -2, -1)[..., None, :1]


class Mirrored(nn.Module):
    """The same rows from both ends: how many there are is a number then, as the last of them is."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.exp(x) * x.flip(0)


@pytest.mark.parametrize(("module", "shape"), [
    (Turned(), (2, 5, 37)), (Turned(), (3, 16, 64)), (Mirrored(), (40, 3)), (Mirrored(), (7, 33))])
def test_kernels_read_from_the_end(module: nn.Module, shape: tuple[int, ...], tmp_path: Path) -> None:
    x = torch.randn(shape)
    found = first(module, x)
    assert found.settled().faithful and ".flip(" not in found.source
    file = write_files(tmp_path / "found", files_of(found, facts_of(module, (x,), found, EAGER)))
    fast = loaded(file).optimized(module)
    torch.testing.assert_close(fast(x), module(x), rtol=1e-4, atol=1e-5)


def test_no_value_has_one_axis_in_two_dimensions() -> None:
    for dims in ((("i",), ("i",)), (("i", "j"), ("j",)), (("i", "i"),)):
        with pytest.raises(Unsupported, match="two dimensions along one axis"):
            Value(load("x", "i", "j"), dims, "float32")


PAIRED = {                                           # rows of products with rows: each side is cut as the other was
    "halves": (lambda x: (x.view(8, 3, 24).sum(1) @ x.t()).t().reshape(8, 3, 8).sum(1), (24, 24)),
    "pools": (lambda x: F.avg_pool1d((F.avg_pool1d(x.t(), 3).t() @ x.t()).t()[None].mT, 3)[0], (24, 24)),
    "windows": (lambda x: (x[:12] @ x.t())[:, :12], (24, 5)),
    "windows between": (lambda x: (x[2:14] @ x.t())[:, 3:15] * 2, (24, 5)),
    "windows of windows": (lambda x: (x[:12][:6] @ x[:12].t())[:, :6], (24, 5)),
    "looked up": (lambda x: (x[torch.arange(12)] @ x.t())[:, torch.arange(12)], (24, 5)),
}


@pytest.mark.parametrize(("function", "shape"), PAIRED.values(), ids=PAIRED)
def test_what_is_cut_as_another_axis_was_is_no_diagonal(
    function: Callable[[torch.Tensor], torch.Tensor], shape: tuple[int, ...]
) -> None:
    x = torch.randn(shape, dtype=torch.float64)
    specification = read(graph := capture(function, (x,)))
    (output,) = specification.outputs
    axes = [axis for dim in output.dims for axis in dim]
    assert len({*axes}) == len(axes)
    given = {**graph.tensors, specification.arguments[0]: x}
    torch.testing.assert_close(worked_out(output.form, given, specification.extents, output.dims), function(x))


def test_a_border_that_is_written_piece_by_piece_is_no_tensor_before(tmp_path: Path) -> None:
    """In three dimensions it takes many operators, and is read whole and in parts while there is nothing in it yet."""
    x = torch.randn(2, 3, 1, 1, 1)
    agree(lambda x: F.pad(torch.tanh(x), (0, 1, 0, 1, 1, 1), mode="circular"), x, folder=tmp_path)
