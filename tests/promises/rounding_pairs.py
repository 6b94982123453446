"""Pairs in which one program stores what the other computes: folded, merged, rounded, tabulated. And pairs that look
so, where a stored number is another one.

`EQUAL[name]()` and `WRONG[name]()` give left, right and inputs. Statistics, gains and biases are generic, so that
nothing is equal by chance.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable

import torch
from torch import nn
from torch.fx.experimental.optimization import fuse
from torch.nn import functional as F
from torch.nn.utils import fuse_conv_bn_eval, fuse_linear_bn_eval, parametrizations

Made = tuple[Callable, Callable, tuple]
EQUAL: dict[str, Callable[[], Made]] = {}
WRONG: dict[str, Callable[[], Made]] = {}


def pair(table: dict[str, Callable[[], Made]]) -> Callable[[Callable[[], Made]], Callable[[], Made]]:
    def entered(make: Callable[[], Made]) -> Callable[[], Made]:
        def seeded() -> Made:
            torch.manual_seed(0)
            left, right, inputs = make()
            return still(left), still(right), inputs

        table[make.__name__.replace("_", " ")] = seeded
        return make

    return entered


def still(program: Callable) -> Callable:
    return program.eval().requires_grad_(False) if isinstance(program, nn.Module) else program


def lively(module: nn.Module) -> nn.Module:
    """The module with generic gains, biases and statistics."""
    for part in module.modules():
        for name in ("weight", "bias"):
            held = getattr(part, name, None)
            if isinstance(held, nn.Parameter) and held.dim() == 1:
                held.data = torch.rand_like(held) + (0.5 if name == "weight" else -0.5)
        if isinstance(part, nn.modules.batchnorm._BatchNorm):
            part.running_mean.uniform_(-0.5, 0.5)
            part.running_var.uniform_(0.5, 2)
    return module.eval()


class Program(nn.Module):
    """A module of these parts, and a forward that is given."""

    def __init__(self, forward: Callable, **parts: object) -> None:
        super().__init__()
        for name, part in parts.items():
            if isinstance(part, torch.Tensor) and not isinstance(part, nn.Parameter):
                self.register_buffer(name, part)
            else:
                setattr(self, name, part)
        self._forward = forward

    def forward(self, *inputs):
        return self._forward(self, *inputs)


def x(*shape: int) -> tuple[torch.Tensor]:
    return (torch.randn(shape),)


def nudged(tensor: torch.Tensor, units: int, at: int | None = None) -> torch.Tensor:
    """The tensor with one element, or all, so many units in the last place larger."""
    found = tensor.detach().clone()
    part = found.view(-1) if at is None else found.view(-1)[at : at + 1]
    for _ in range(units):
        part.copy_(torch.nextafter(part, torch.full_like(part, math.inf)))
    return found


# ------------------------------------------------------------------------------------------------------ batch norm


def conv_bn(**kinds) -> nn.Sequential:
    return lively(nn.Sequential(nn.Conv2d(3, 4, 3, **kinds), nn.BatchNorm2d(4)))


def folded(block: nn.Sequential, *, eps: float | None = None, root: bool = True, gain: bool = True, sign: float = 1.0):
    """By hand; the options are mistakes."""
    conv, bn = block[0], block[1]
    eps = bn.eps if eps is None else eps
    var = bn.running_var + eps
    scale = (bn.weight if gain else 1.0) / (torch.sqrt(var) if root else var)
    fused = copy.deepcopy(conv)
    bias = conv.bias if conv.bias is not None else torch.zeros_like(bn.running_mean)
    fused.weight = nn.Parameter((conv.weight * scale.reshape(-1, *[1] * (conv.weight.dim() - 1))).detach())
    fused.bias = nn.Parameter(((bias - sign * bn.running_mean) * scale + bn.bias).detach())
    return fused


@pair(EQUAL)
def bn_folded_by_hand():
    block = conv_bn()
    return block, folded(block), x(2, 3, 6, 6)


@pair(EQUAL)
def bn_folded_by_torch():
    block = conv_bn(bias=False, padding=1)
    return block, fuse_conv_bn_eval(*block), x(2, 3, 6, 6)


@pair(EQUAL)
def bn_folded_the_folded_one_left():
    block = conv_bn()
    return fuse_conv_bn_eval(*block), block, x(2, 3, 6, 6)


@pair(EQUAL)
def bn_folded_into_a_strided_depthwise_conv():
    block = lively(nn.Sequential(nn.Conv2d(4, 4, 3, stride=2, groups=4), nn.BatchNorm2d(4)))
    return block, fuse_conv_bn_eval(*block), x(2, 4, 7, 7)


@pair(EQUAL)
def bn_folded_into_conv1d():
    block = lively(nn.Sequential(nn.Conv1d(3, 4, 3), nn.BatchNorm1d(4)))
    return block, fuse_conv_bn_eval(*block), x(2, 3, 9)


@pair(EQUAL)
def bn_folded_into_a_linear():
    block = lively(nn.Sequential(nn.Linear(6, 5), nn.BatchNorm1d(5)))
    return block, fuse_linear_bn_eval(*block), x(3, 6)


class Small(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8)
        self.conv2, self.bn2 = nn.Conv2d(8, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8)
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = F.relu(self.bn2(self.conv2(x))) + x
        return self.head(x.mean((2, 3)))


@pair(EQUAL)
def bn_fused_by_fx_in_a_residual_net():
    model = lively(Small())
    return model, fuse(model), x(2, 3, 6, 6)


@pair(EQUAL)
def bn_with_fresh_statistics_folded():
    block = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)).eval()
    return block, fuse_conv_bn_eval(*block), x(2, 3, 6, 6)


@pair(EQUAL)
def bn_folded_in_double_and_stored_in_single():
    block = conv_bn()
    return block, fuse_conv_bn_eval(*copy.deepcopy(block).double()).float(), x(2, 3, 6, 6)


@pair(EQUAL)
def bn_as_scale_and_shift():
    bn = lively(nn.BatchNorm1d(8))
    scale = (bn.weight / torch.sqrt(bn.running_var + bn.eps)).detach()
    shift = (bn.bias - bn.running_mean * scale).detach()
    return bn, Program(lambda m, x: x * m.scale + m.shift, scale=scale, shift=shift), x(3, 8)


@pair(EQUAL)
def bn_written_out():
    bn = lively(nn.BatchNorm2d(4))

    def forward(m, x):
        mean, var, gain, bias = (t[None, :, None, None] for t in (m.mean, m.var, m.gain, m.bias))
        return (x - mean) / torch.sqrt(var + 1e-5) * gain + bias

    return bn, Program(forward, mean=bn.running_mean.clone(), var=bn.running_var.clone(), gain=bn.weight,
                       bias=bn.bias), x(2, 4, 3, 3)


@pair(EQUAL)
def bn_before_a_linear_folded():
    bn, linear = lively(nn.BatchNorm1d(6)), nn.Linear(6, 5)
    scale = bn.weight / torch.sqrt(bn.running_var + bn.eps)
    fused = nn.Linear(6, 5)
    fused.weight = nn.Parameter((linear.weight * scale).detach())
    fused.bias = nn.Parameter((linear.weight @ (bn.bias - bn.running_mean * scale) + linear.bias).detach())
    return nn.Sequential(bn, linear), fused, x(3, 6)


@pair(EQUAL)
def frozen_bn_of_detection_models():
    bn = lively(nn.BatchNorm2d(4))

    def forward(m, x):
        scale = m.weight * (m.running_var + 1e-5).rsqrt()
        shift = m.bias - m.running_mean * scale
        return x * scale.reshape(1, -1, 1, 1) + shift.reshape(1, -1, 1, 1)

    buffers = {name: getattr(bn, name).detach().clone() for name in ("weight", "bias", "running_mean", "running_var")}
    return bn, Program(forward, **buffers), x(2, 4, 3, 3)


# ------------------------------------------------------------------------------------------------- merged and removed


class Lora(nn.Module):
    def __init__(self, rank: int = 4, scale: float = 2.0) -> None:
        super().__init__()
        self.base, self.scale = nn.Linear(12, 10), scale
        self.a, self.b = nn.Linear(12, rank, bias=False), nn.Linear(rank, 10, bias=False)

    def forward(self, x):
        return self.base(x) + self.scale * self.b(self.a(x))

    def merged(self) -> nn.Linear:
        fused = copy.deepcopy(self.base)
        fused.weight = nn.Parameter((self.base.weight + self.scale * (self.b.weight @ self.a.weight)).detach())
        return fused


@pair(EQUAL)
def lora_merged():
    lora = Lora(scale=0.3)
    return lora, lora.merged(), x(2, 3, 12)


@pair(EQUAL)
def lora_merged_between_other_layers():
    lora = Lora()
    first, last = nn.Linear(6, 12), nn.Linear(10, 4)
    plain = nn.Sequential(first, nn.GELU(), lora, nn.Tanh(), last)
    return plain, nn.Sequential(first, nn.GELU(), lora.merged(), nn.Tanh(), last), x(5, 6)


@pair(EQUAL)
def lora_merged_as_it_runs():
    lora = Lora()

    def forward(m, x):
        return F.linear(x, m.base.weight + m.scale * (m.b.weight @ m.a.weight), m.base.bias)

    return Program(forward, base=lora.base, a=lora.a, b=lora.b, scale=lora.scale), lora.merged(), x(2, 12)


def removed(normed: nn.Module, plain: nn.Module) -> nn.Module:
    """The plain module with the weight that the parametrised one computes."""
    plain.weight, plain.bias = nn.Parameter(normed.weight.detach()), normed.bias
    return plain


@pair(EQUAL)
def weight_norm_removed():
    normed = parametrizations.weight_norm(nn.Linear(6, 5))
    normed.parametrizations.weight.original0.data.uniform_(0.5, 2)
    return normed, removed(normed, nn.Linear(6, 5)), x(3, 6)


@pair(EQUAL)
def weight_norm_of_a_conv_removed():
    normed = parametrizations.weight_norm(nn.Conv1d(3, 4, 3))
    normed.parametrizations.weight.original0.data.uniform_(0.5, 2)
    return normed, removed(normed, nn.Conv1d(3, 4, 3)), x(2, 3, 8)


@pair(EQUAL)
def spectral_norm_removed():
    normed = parametrizations.spectral_norm(nn.Linear(6, 5)).eval()
    return normed, removed(normed, nn.Linear(6, 5)), x(3, 6)


@pair(EQUAL)
def layer_norm_gain_folded():
    norm, linear = lively(nn.LayerNorm(8)), nn.Linear(8, 5)
    fused = nn.Linear(8, 5)
    fused.weight = nn.Parameter((linear.weight * norm.weight).detach())
    fused.bias = nn.Parameter((linear.weight @ norm.bias + linear.bias).detach())
    return nn.Sequential(norm, linear), nn.Sequential(nn.LayerNorm(8, elementwise_affine=False), fused), x(2, 3, 8)


@pair(EQUAL)
def rms_norm_gain_folded_into_three():
    norm = lively(nn.RMSNorm(8, eps=1e-6))
    parts = [nn.Linear(8, 4, bias=False) for _ in range(3)]
    packed = torch.cat([part.weight * norm.weight for part in parts]).detach()

    def left(m, x):
        x = m.norm(x)
        return m.q(x), m.k(x), m.v(x)

    def right(m, x):
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
        return F.linear(x, m.packed).chunk(3, -1)

    q, k, v = parts
    return Program(left, norm=norm, q=q, k=k, v=v), Program(right, packed=nn.Parameter(packed)), x(2, 3, 8)


@pair(EQUAL)
def query_scale_folded_into_the_weight():
    q, k = nn.Linear(6, 6, bias=False), nn.Linear(6, 6, bias=False)
    fused = copy.deepcopy(q)
    fused.weight = nn.Parameter((q.weight / math.sqrt(6)).detach())

    def left(m, x):
        return (m.q(x) @ m.k(x).transpose(-1, -2) / math.sqrt(6)).softmax(-1)

    def right(m, x):
        return (m.q(x) @ m.k(x).transpose(-1, -2)).softmax(-1)

    return Program(left, q=q, k=k), Program(right, q=fused, k=k), x(2, 5, 6)


@pair(EQUAL)
def layer_scale_folded_into_the_projection():
    linear = nn.Linear(8, 8)
    gain = nn.Parameter(torch.rand(8) + 0.1)
    fused = nn.Linear(8, 8)
    fused.weight = nn.Parameter((linear.weight * gain[:, None]).detach())
    fused.bias = nn.Parameter((linear.bias * gain).detach())
    return (Program(lambda m, x: x + m.gain * m.linear(x), linear=linear, gain=gain),
            Program(lambda m, x: x + m.linear(x), linear=fused), x(3, 8))


@pair(EQUAL)
def input_normalisation_folded_into_a_conv():
    conv, mean, std = nn.Conv2d(3, 4, 3), torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
    fused = nn.Conv2d(3, 4, 3)
    fused.weight = nn.Parameter((conv.weight / std[None, :, None, None]).detach())
    shift = (fused.weight * mean[None, :, None, None]).sum((1, 2, 3))
    fused.bias = nn.Parameter((conv.bias - shift).detach())

    def left(m, x):
        return m.conv((x - m.mean[:, None, None]) / m.std[:, None, None])

    return Program(left, conv=conv, mean=mean, std=std), fused, x(2, 3, 6, 6)


@pair(EQUAL)
def two_linears_merged():
    first, second = nn.Linear(6, 8), nn.Linear(8, 5)
    fused = nn.Linear(6, 5)
    fused.weight = nn.Parameter((second.weight @ first.weight).detach())
    fused.bias = nn.Parameter((second.weight @ first.bias + second.bias).detach())
    return nn.Sequential(first, second), fused, x(3, 6)


# ------------------------------------------------------------------------------------------------------ coarser numbers


def gated() -> nn.Module:
    return Program(lambda m, x: m.down(F.silu(m.gate(x)) * m.up(x)), gate=nn.Linear(8, 12, bias=False),
                   up=nn.Linear(8, 12, bias=False), down=nn.Linear(12, 8, bias=False))


def rounded_to(module: nn.Module, dtype: torch.dtype) -> nn.Module:
    """The weights stored in another dtype, and computing in float32."""
    return copy.deepcopy(module).to(dtype).to(torch.float32)


@pair(EQUAL)
def weights_stored_in_bfloat16():
    model = gated()
    narrow = copy.deepcopy(model).to(torch.bfloat16)

    def forward(m, x):
        gate, up, down = (part.weight.float() for part in (m.gate, m.up, m.down))
        return F.linear(F.silu(F.linear(x, gate)) * F.linear(x, up), down)

    return model, Program(forward, gate=narrow.gate, up=narrow.up, down=narrow.down), x(3, 8)


@pair(EQUAL)
def weights_stored_in_bfloat16_packed():
    model = gated()
    packed = nn.Parameter(torch.cat([model.gate.weight, model.up.weight]).detach().bfloat16())
    down = nn.Parameter(model.down.weight.detach().bfloat16())

    def forward(m, x):
        gate, up = F.linear(x, m.packed.float()).chunk(2, -1)
        return F.linear(F.silu(gate) * up, m.down.float())

    return model, Program(forward, packed=packed, down=down), x(3, 8)


@pair(EQUAL)
def weights_stored_in_float16():
    model = nn.Linear(8, 5)
    return (model, Program(lambda m, x: F.linear(x, m.weight.float(), m.bias.float()),
                           weight=nn.Parameter(model.weight.detach().half()),
                           bias=nn.Parameter(model.bias.detach().half())), x(3, 8))


@pair(EQUAL)
def weights_in_double_and_single():
    model = nn.Linear(8, 5, dtype=torch.float64)
    return (Program(lambda m, x: m.linear(x.double()), linear=model),
            Program(lambda m, x: m.linear(x).double(), linear=copy.deepcopy(model).float()), x(3, 8))


# -------------------------------------------------------------------------------------------------------------- numbers


@pair(EQUAL)
def a_tenth_in_a_tensor():
    return lambda x: x * 0.1 + x.exp(), lambda x: x * torch.tensor(0.1) + x.exp(), x(3, 5)


@pair(EQUAL)
def a_tenth_in_a_buffer():
    return (Program(lambda m, x: F.softplus(x * m.slope), slope=torch.tensor(0.1)),
            Program(lambda m, x: F.softplus(x * 0.1)), x(3, 5))


@pair(EQUAL)
def a_tenth_in_a_parameter():
    return (Program(lambda m, x: x + m.alpha * x.tanh(), alpha=nn.Parameter(torch.tensor(0.1))),
            Program(lambda m, x: x + 0.1 * x.tanh()), x(3, 5))


@pair(EQUAL)
def a_vector_of_tenths():
    return (Program(lambda m, x: x * m.scale, scale=torch.full((5,), 0.1)),
            Program(lambda m, x: x * 0.1), x(3, 5))


@pair(EQUAL)
def a_tenth_in_bfloat16():
    return (Program(lambda m, x: x.sin() * m.scale.float(), scale=torch.tensor(0.1, dtype=torch.bfloat16)),
            Program(lambda m, x: x.sin() * 0.1), x(3, 5))


@pair(EQUAL)
def the_logarithm_of_a_hundred():
    return (Program(lambda m, x: x * m.logit_scale.exp(), logit_scale=nn.Parameter(torch.tensor(math.log(100)))),
            Program(lambda m, x: x * 100.0), x(3, 5))


@pair(EQUAL)
def the_temperature_of_clip():
    temperature = nn.Parameter(torch.tensor(math.log(1 / 0.07)))
    return (Program(lambda m, x: x.sin() * m.logit_scale.exp(), logit_scale=temperature),
            Program(lambda m, x: x.sin() / 0.07), x(3, 5))


@pair(EQUAL)
def one_over_the_root_in_single():
    def left(x):
        return (x @ x.transpose(-1, -2) * (1.0 / torch.sqrt(torch.tensor(6.0)))).softmax(-1)

    return left, lambda x: (x @ x.transpose(-1, -2) / math.sqrt(6)).softmax(-1), x(2, 5, 6)


@pair(EQUAL)
def one_over_the_root_in_a_buffer():
    return (Program(lambda m, x: (x @ x.transpose(-1, -2) * m.scale).softmax(-1), scale=torch.tensor(6.0) ** -0.5),
            lambda x: (x @ x.transpose(-1, -2) / math.sqrt(6)).softmax(-1), x(2, 5, 6))


@pair(EQUAL)
def gelu_with_constants_in_buffers():
    def left(m, x):
        return 0.5 * x * (1 + torch.tanh(m.root * (x + m.cubic * x**3)))

    return (Program(left, root=torch.tensor(math.sqrt(2 / math.pi)), cubic=torch.tensor(0.044715)),
            lambda x: F.gelu(x, approximate="tanh"), x(3, 5))


# --------------------------------------------------------------------------------------------------------------- tables


def sinusoids(length: int, width: int) -> torch.Tensor:
    """Attention is all you need, as everyone writes it, in float32."""
    position = torch.arange(length).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
    table = torch.zeros(length, width)
    table[:, 0::2] = torch.sin(position * div_term)
    table[:, 1::2] = torch.cos(position * div_term)
    return table


def sinusoids_by_power(length: int, width: int) -> torch.Tensor:
    angle = torch.arange(length)[:, None] / 10000.0 ** (torch.arange(0, width, 2) / width)
    return torch.stack([angle.sin(), angle.cos()], -1).reshape(length, width)


@pair(EQUAL)
def a_table_against_its_expression():
    return (Program(lambda m, x: x + m.table, table=sinusoids(7, 8)),
            lambda x: x + sinusoids(7, 8), x(2, 7, 8))


@pair(EQUAL)
def a_table_against_another_expression():
    return (Program(lambda m, x: x + m.table, table=sinusoids(7, 8)),
            lambda x: x + sinusoids_by_power(7, 8), x(2, 7, 8))


@pair(EQUAL)
def a_longer_table_against_an_expression():
    return (Program(lambda m, x: x + m.table[: x.shape[1]], table=sinusoids(32, 8)),
            lambda x: x + sinusoids_by_power(x.shape[1], 8), x(2, 7, 8))


@pair(EQUAL)
def two_expressions_of_one_table():
    return lambda x: x + sinusoids(7, 8), lambda x: x + sinusoids_by_power(7, 8), x(2, 7, 8)


@pair(EQUAL)
def a_table_worked_out_in_double():
    angle = torch.arange(7)[:, None].double() / 10000.0 ** (torch.arange(0, 8, 2).double() / 8)
    table = torch.stack([angle.sin(), angle.cos()], -1).reshape(7, 8).float()
    return Program(lambda m, x: x + m.table, table=table), lambda x: x + sinusoids_by_power(7, 8), x(2, 7, 8)


def rotated(x, inv_freq):
    angle = torch.arange(x.shape[-2], dtype=torch.float32)[:, None] * inv_freq
    cos, sin = (torch.cat([t, t], -1) for t in (angle.cos(), angle.sin()))
    half = x.shape[-1] // 2
    return x * cos + torch.cat([-x[..., half:], x[..., :half]], -1) * sin


@pair(EQUAL)
def rotary_frequencies_in_a_buffer():
    inv_freq = 1.0 / (10000 ** (torch.arange(0, 8, 2).float() / 8))
    return (Program(lambda m, x: rotated(x, m.inv_freq), inv_freq=inv_freq),
            lambda x: rotated(x, torch.exp(torch.arange(0, 8, 2) * (-math.log(10000.0) / 8))), x(2, 7, 8))


@pair(EQUAL)
def alibi_slopes_in_a_buffer():
    distance = torch.arange(5)[None, :] - torch.arange(5)[:, None]
    slopes = torch.tensor([2 ** (-8 * (h + 1) / 3) for h in range(3)])
    return (Program(lambda m, x: (x + m.slopes[:, None, None] * distance).softmax(-1), slopes=slopes),
            lambda x: (x + (2 ** (-8 * (torch.arange(3) + 1) / 3))[:, None, None] * distance).softmax(-1),
            x(2, 3, 5, 5))


@pair(EQUAL)
def a_window_in_a_buffer():
    return (Program(lambda m, x: x * m.window, window=torch.hann_window(9)),
            lambda x: x * (0.5 - 0.5 * torch.cos(torch.arange(9) * (2 * math.pi / 9))), x(2, 9))


# --------------------------------------------------------------------------------------------------------- near misses


def wrong_fold(name: str, **options) -> None:
    def make():
        block = conv_bn()
        return block, folded(block, **options), x(2, 3, 6, 6)

    make.__name__ = name
    pair(WRONG)(make)


wrong_fold("a fold without epsilon", eps=0.0)
wrong_fold("a fold with another epsilon", eps=1e-3)
wrong_fold("a fold without the root", root=False)
wrong_fold("a fold without the gain", gain=False)
wrong_fold("a fold with the wrong sign", sign=-1.0)


@pair(WRONG)
def a_folded_bias_that_forgets_its_own():
    block = conv_bn()
    fused = folded(block)
    scale = block[1].weight / torch.sqrt(block[1].running_var + block[1].eps)
    fused.bias = nn.Parameter((block[1].bias - block[1].running_mean * scale).detach())
    return block, fused, x(2, 3, 6, 6)


@pair(WRONG)
def a_fold_with_one_number_off_by_a_ten_thousandth():
    block = conv_bn()
    fused = folded(block)
    fused.weight.data[1, 2, 0, 1] *= 1.0001
    return block, fused, x(2, 3, 6, 6)


@pair(WRONG)
def a_fold_with_a_millionth_too_much():
    block = conv_bn()
    fused = folded(block)
    fused.weight.data *= 1.000001
    return block, fused, x(2, 3, 6, 6)


@pair(WRONG)
def a_fold_of_another_layer():
    torch.manual_seed(1)
    block, other = conv_bn(), conv_bn()
    return block, folded(nn.Sequential(block[0], other[1])), x(2, 3, 6, 6)


@pair(WRONG)
def a_fold_without_the_relu_between():
    model = lively(Small())
    fused = fuse(model)
    return model, Program(lambda m, x: m.net.head((m.net.conv2(m.net.conv1(x)) + m.net.conv1(x)).mean((2, 3))),
                          net=fused), x(2, 3, 6, 6)


@pair(WRONG)
def lora_merged_without_its_scale():
    lora = Lora()
    merged = lora.merged()
    merged.weight = nn.Parameter((lora.base.weight + lora.b.weight @ lora.a.weight).detach())
    return lora, merged, x(2, 12)


@pair(WRONG)
def lora_merged_twice():
    lora = Lora()
    merged = lora.merged()
    merged.weight = nn.Parameter((merged.weight + lora.scale * (lora.b.weight @ lora.a.weight)).detach())
    return lora, merged, x(2, 12)


@pair(WRONG)
def weight_norm_without_the_gain():
    normed = parametrizations.weight_norm(nn.Linear(6, 5))
    normed.parametrizations.weight.original0.data.uniform_(0.5, 2)
    plain = nn.Linear(6, 5)
    direction = normed.parametrizations.weight.original1
    plain.weight = nn.Parameter((direction / direction.norm(dim=1, keepdim=True)).detach())
    plain.bias = normed.bias
    return normed, plain, x(3, 6)


@pair(WRONG)
def layer_norm_bias_not_folded():
    norm, linear = lively(nn.LayerNorm(8)), nn.Linear(8, 5)
    fused = nn.Linear(8, 5)
    fused.weight = nn.Parameter((linear.weight * norm.weight).detach())
    fused.bias = linear.bias
    return nn.Sequential(norm, linear), nn.Sequential(nn.LayerNorm(8, elementwise_affine=False), fused), x(2, 3, 8)


@pair(WRONG)
def a_scale_two_units_off():
    scale = nudged(torch.tensor(6.0) ** -0.5, 2)
    return (Program(lambda m, x: (x @ x.transpose(-1, -2) * m.scale).softmax(-1), scale=scale),
            lambda x: (x @ x.transpose(-1, -2) / math.sqrt(6)).softmax(-1), x(2, 5, 6))


@pair(WRONG)
def a_tenth_two_units_off():
    return (Program(lambda m, x: x * m.slope, slope=nudged(torch.tensor(0.1), 2)),
            lambda x: x * 0.1, x(3, 5))


@pair(WRONG)
def a_weight_two_units_off():
    linear = nn.Linear(6, 5)
    other = copy.deepcopy(linear)
    other.weight = nn.Parameter(nudged(linear.weight, 2, at=7))
    return linear, other, x(3, 6)


@pair(WRONG)
def a_bfloat16_weight_two_units_off():
    linear = nn.Linear(6, 5, bias=False)
    other = nn.Parameter(nudged(linear.weight.bfloat16(), 2, at=7))
    return linear, Program(lambda m, x: F.linear(x, m.weight.float()), weight=other), x(3, 6)


@pair(WRONG)
def a_bfloat16_weight_cut_off_instead_of_rounded():
    linear = nn.Linear(6, 5, bias=False)
    bits = linear.weight.detach().view(torch.int32) & ~0xFFFF
    cut = nn.Parameter(bits.view(torch.float32).bfloat16())
    return linear, Program(lambda m, x: F.linear(x, m.weight.float()), weight=cut), x(3, 6)


@pair(WRONG)
def a_table_with_one_wrong_number():
    table = sinusoids(7, 8)
    table[3, 2] *= 1.0001
    return Program(lambda m, x: x + m.table, table=table), lambda x: x + sinusoids_by_power(7, 8), x(2, 7, 8)


@pair(WRONG)
def a_table_of_another_base():
    return (Program(lambda m, x: x + m.table, table=sinusoids(7, 8)),
            lambda x: x + torch.stack([f(torch.arange(7)[:, None] / 10001.0 ** (torch.arange(0, 8, 2) / 8))
                                       for f in (torch.sin, torch.cos)], -1).reshape(7, 8), x(2, 7, 8))


@pair(WRONG)
def a_table_of_positions_in_bfloat16():
    position = torch.arange(300, 307).bfloat16().float()
    angle = position[:, None] / 10000.0 ** (torch.arange(0, 8, 2) / 8)
    table = torch.stack([angle.sin(), angle.cos()], -1).reshape(7, 8)

    def exact(x):
        angle = torch.arange(300, 307)[:, None] / 10000.0 ** (torch.arange(0, 8, 2) / 8)
        return x + torch.stack([angle.sin(), angle.cos()], -1).reshape(7, 8)

    return Program(lambda m, x: x + m.table, table=table), exact, x(2, 7, 8)


@pair(WRONG)
def positions_computed_in_bfloat16():
    def positions(dtype):
        def program(x):
            angle = torch.arange(300, 307).to(dtype).float()[:, None] / 10000.0 ** (torch.arange(0, 8, 2) / 8)
            return x + torch.stack([angle.sin(), angle.cos()], -1).reshape(7, 8)

        return program

    return positions(torch.bfloat16), positions(torch.float32), x(2, 7, 8)


@pair(WRONG)
def another_literal():
    return lambda x: x * 0.1, lambda x: x * 0.1000001, x(3, 5)


@pair(WRONG)
def another_number_in_a_tensor():
    return lambda x: x * torch.tensor(0.1), lambda x: x * torch.tensor(0.1000001), x(3, 5)


@pair(WRONG)
def another_epsilon():
    return (lambda x: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5),
            lambda x: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1.0001e-5), x(3, 5))


@pair(WRONG)
def another_temperature():
    return (Program(lambda m, x: x * m.logit_scale.exp(), logit_scale=nn.Parameter(torch.tensor(math.log(100)))),
            Program(lambda m, x: x * 100.001), x(3, 5))


@pair(WRONG)
def a_folded_scale_of_another_width():
    q, k = nn.Linear(6, 6, bias=False), nn.Linear(6, 6, bias=False)
    fused = copy.deepcopy(q)
    fused.weight = nn.Parameter((q.weight / math.sqrt(5)).detach())

    def left(m, x):
        return (m.q(x) @ m.k(x).transpose(-1, -2) / math.sqrt(6)).softmax(-1)

    def right(m, x):
        return (m.q(x) @ m.k(x).transpose(-1, -2)).softmax(-1)

    return Program(left, q=q, k=k), Program(right, q=fused, k=k), x(2, 5, 6)
