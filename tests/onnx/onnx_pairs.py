"""Small torch modules, each with its export as a text, and with a mistake that exporters make planted in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

import onnx
from onnx import numpy_helper


def write(text: str, path: Path, weights: dict[str, torch.Tensor], opset: int = 18) -> str:
    """A model from the text of its graph, and its weights."""
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]>\n{text}')
    for name, value in weights.items():
        model.graph.initializer.append(numpy_helper.from_array(value.detach().numpy(), name))
    onnx.save(model, path)
    return str(path)


@dataclass(frozen=True)
class Planted:
    """A mistake: what stands in the text and what stands there instead; the operator that is named."""

    name: str
    module: Callable[[], nn.Module]
    inputs: tuple[torch.Tensor, ...]
    text: str
    change: tuple[str, str]
    named: str
    opset: int = 18
    long: bool = False
    weights: Callable[[nn.Module], dict[str, torch.Tensor]] = lambda module: dict(module.state_dict())

    def files(self, folder: Path) -> tuple[nn.Module, str, str]:
        torch.manual_seed(0)
        module = self.module().eval()
        weights = self.weights(module)
        old, new = self.change
        assert old in self.text
        return (module, write(self.text, folder / "right.onnx", weights, self.opset),
                write(self.text.replace(old, new), folder / "wrong.onnx", weights, self.opset))


class Attend(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.q, self.k = nn.Linear(6, 6), nn.Linear(6, 6)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        scores = self.q(x) @ self.k(x).transpose(-1, -2) * 0.25
        return torch.softmax(scores.masked_fill(mask == 0, -torch.inf), -1) @ x


ATTEND = """g (float[B,5,6] x, int64[B,5,5] mask) => (float[B,5,6] y) {
    qt = Transpose(q.weight)
    kt = Transpose(k.weight)
    qm = MatMul(x, qt)
    query = Add(qm, q.bias)
    km = MatMul(x, kt)
    key = Add(km, k.bias)
    turned = Transpose<perm = [0, 2, 1]>(key)
    scores = MatMul(query, turned)
    quarter = Constant<value_float = 0.25>()
    scaled = Mul(scores, quarter)
    zero = Constant<value_int = 0>()
    least = Constant<value = float {-inf}>()
    out = Equal(mask, zero)
    masked = Where(out, least, scaled)
    weights = Softmax<axis = -1>(masked)
    y = MatMul(weights, x)
}""".replace("q.weight", '"q.weight"').replace("k.weight", '"k.weight"').replace("q.bias", '"q.bias"').replace(
    "k.bias", '"k.bias"')
MASK = torch.tril(torch.ones(2, 5, 5, dtype=torch.int64))
MASK[1, 4, 2] = 0
X = torch.randn(2, 5, 6, generator=torch.Generator().manual_seed(0))
PICTURE = torch.randn(2, 3, 5, 7, generator=torch.Generator().manual_seed(1))


class Norm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(6, eps=1e-5)
        nn.init.normal_(self.norm.weight)
        nn.init.normal_(self.norm.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x)


class Act(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.gelu(x)


class Square(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(6, 6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(self.linear(x))


class Rotate(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a, b = x.chunk(2, -1)
        return torch.cat((-b, a), -1)


class Sharpen(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, 1)


class Padded(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(F.pad(x, (1, 0, 0, 1)))


class Larger(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.interpolate(x, scale_factor=2.0, mode="bilinear", align_corners=False)


class Mean(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.mean((2, 3)).reshape(x.shape[0], -1)


LINEAR = """g (float[B,5,6] x) => (float[B,5,6] y) {
    t = Transpose<perm = [1, 0]>("linear.weight")
    m = MatMul(x, t)
    s = Add(m, "linear.bias")
    y = Relu(s)
}"""
ROTATE = """g (float[B,5,6] x) => (float[B,5,6] y) {
    a, b = Split<axis = -1, num_outputs = 2>(x)
    n = Neg(b)
    y = Concat<axis = -1>(n, a)
}"""
LARGER = """g (float[B,3,5,7] x) => (float[B,3,H,W] y) {
    scales = Constant<value = float[4] {1, 1, 2, 2}>()
    y = Resize<mode = "linear", coordinate_transformation_mode = "half_pixel">(x, , scales)
}"""
MEAN = """g (float[B,3,5,7] x) => (float[B,3] y) {
    axes = Constant<value_ints = [2, 3]>()
    m = ReduceMean<keepdims = 0>(x, axes)
    s = Shape<start = 0, end = 1>(m)
    rest = Constant<value_ints = [-1]>()
    wanted = Concat<axis = 0>(s, rest)
    y = Reshape(m, wanted)
}"""

PLANTED = (
    Planted("softmax along the wrong axis", Attend, (X, MASK), ATTEND, ("axis = -1", "axis = 1"), "Softmax"),
    Planted("another epsilon", Norm, (X,),
            'g (float[B,5,6] x) => (float[B,5,6] y) { y = LayerNormalization<epsilon = 0.00001>(x, "norm.weight", '
            '"norm.bias") }', ("0.00001", "0.001"), "LayerNormalization", long=True),
    Planted("another gelu", Act, (X,), 'g (float[B,5,6] x) => (float[B,5,6] y) { y = Gelu<approximate = "none">(x) }',
            ("none", "tanh"), "Gelu", 20),
    Planted("a mask that was folded", Attend, (X, MASK), ATTEND,
            ("out = Equal(mask, zero)", "held = Trilu<upper = 0>(scores) out = Equal(held, fz)"), "Trilu", long=True,
            weights=lambda module: {**module.state_dict(), "fz": torch.tensor(0.0)}),
    Planted("a weight that was not transposed", Square, (X,), LINEAR, ("perm = [1, 0]", "perm = [0, 1]"), "Transpose"),
    Planted("a concatenation in the wrong order", Rotate, (X,), ROTATE, ("(n, a)", "(a, n)"), "Concat"),
    Planted("softmax of before version 13", Sharpen, (PICTURE,),
            "g (float[B,3,5,7] x) => (float[B,3,5,7] y) { t = Transpose<perm = [0, 2, 3, 1]>(x) "
            "s = Softmax<axis = 3>(t) y = Transpose<perm = [0, 3, 1, 2]>(s) }", ("axis = 3", "axis = 1"), "Softmax",
            11),
    Planted("pads in another order", Padded, (PICTURE,),
            'g (float[B,3,5,7] x) => (float[B,4,H,W] y) { y = Conv<pads = [0, 1, 1, 0]>(x, "conv.weight", '
            '"conv.bias") }', ("[0, 1, 1, 0]", "[0, 0, 1, 1]"), "Conv"),
    Planted("resized otherwise", Larger, (PICTURE,), LARGER, ("half_pixel", "align_corners"), "Resize", long=True),
    Planted("a mean over other axes", Mean, (torch.randn(2, 3, 3, 3),), MEAN.replace("5,7", "3,3"),
            ("[2, 3]", "[1, 3]"), "ReduceMean", long=True),
)
