"""Rounded constants are no difference, and constants that are off by more than rounding are one."""

from __future__ import annotations

import copy
import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import fuse_conv_bn_eval, fuse_linear_bn_eval

from promises.corpus.case import Case

KNOBS = {"seed": 0, "batch": 3}                 # a validation turns these; the cases stand at 0 and 3
WITNESS = {}


def randn(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(100 + KNOBS["seed"]))


def seeded(make):
    """The program that `make` builds under one seed, with running statistics and gains as after training."""
    torch.manual_seed(7 + KNOBS["seed"])
    module = make().eval()
    with torch.no_grad():
        for part in module.modules():
            if isinstance(part, nn.modules.batchnorm._BatchNorm):
                part.running_mean.normal_()
                part.running_var.uniform_(0.01, 2)
            if isinstance(part, (nn.modules.batchnorm._BatchNorm, nn.LayerNorm)):
                part.weight.uniform_(0.5, 1.5)
                part.bias.normal_()
    return module


def program(function):
    return lambda: function


def x10():
    return (randn(KNOBS["batch"], 10),)


def images():
    return (randn(KNOBS["batch"], 3, 6, 6),)


def tokens():
    return (randn(KNOBS["batch"], 5, 8),)


CASES = []


def same(name, why, left, right, inputs=x10, condition=""):
    CASES.append(Case(name, "same", why, left, right, inputs, condition=condition))


def different(name, why, left, right, inputs=x10, witness=None):
    CASES.append(Case(name, "different", why, left, right, inputs))
    WITNESS[name] = witness


# ---- BatchNorm folded ----------------------------------------------------------------------------------------------


class ConvBn(nn.Module):
    def __init__(self, bias=False, groups=1, eps=1e-5):
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3, padding=1, bias=bias, groups=groups)
        self.bn = nn.BatchNorm2d(6, eps=eps)

    def forward(self, x):
        return F.relu(self.bn(self.conv(x)))


class Folded(nn.Module):
    """A convolution (or linear layer) with the norm in its weights."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return F.relu(self.layer(x))


def utility():
    pair = seeded(ConvBn)
    return Folded(fuse_conv_bn_eval(pair.conv, pair.bn))


def utility_bias():
    pair = seeded(lambda: ConvBn(bias=True))
    return Folded(fuse_conv_bn_eval(pair.conv, pair.bn))


def utility_grouped():
    pair = seeded(lambda: ConvBn(groups=3, bias=True, eps=1e-3))
    return Folded(fuse_conv_bn_eval(pair.conv, pair.bn))


@torch.no_grad()
def by_hand(eps=None, gain=True, root=True, scale_bias=True, mean=True, shift=True, bias=True):
    pair = seeded(lambda: ConvBn(bias=bias))
    conv, bn = copy.deepcopy(pair.conv), pair.bn
    var = bn.running_var + (bn.eps if eps is None else eps)
    scale = (bn.weight if gain else torch.ones_like(bn.weight)) / (torch.sqrt(var) if root else var)
    old = conv.bias if conv.bias is not None else torch.zeros(6)
    centred = old - bn.running_mean if mean else old
    conv.weight = nn.Parameter(conv.weight * scale[:, None, None, None])
    new = centred * scale if scale_bias else old - bn.running_mean * scale
    conv.bias = nn.Parameter(new + bn.bias if shift else new)
    return Folded(conv)


same("conv and batch norm folded by torch's utility", "fuse_conv_bn_eval in float32", lambda: seeded(ConvBn), utility, images)
same("conv with bias and batch norm folded by torch's utility", "fuse_conv_bn_eval in float32",
     lambda: seeded(lambda: ConvBn(bias=True)), utility_bias, images)
same("grouped conv and batch norm folded by torch's utility", "eps 1e-3, three groups",
     lambda: seeded(lambda: ConvBn(groups=3, bias=True, eps=1e-3)), utility_grouped, images)
same("batch norm folded by hand", "w·γ/√(σ²+ε) in float32", lambda: seeded(lambda: ConvBn(bias=True)), by_hand, images)
for name, why, options in (
    ("batch norm folded with epsilon 1e-3", "the norm has 1e-5", {"eps": 1e-3}),
    ("batch norm folded with epsilon 1e-6", "the norm has 1e-5", {"eps": 1e-6}),
    ("batch norm folded without epsilon", "the norm has 1e-5", {"eps": 0.0}),
    ("batch norm folded without its gain", "γ forgotten", {"gain": False}),
    ("batch norm folded without the root", "divides by the variance", {"root": False}),
    ("batch norm folded around an unscaled bias", "the convolution's bias is not scaled", {"scale_bias": False}),
    ("batch norm folded without the mean", "the running mean forgotten", {"mean": False}),
    ("batch norm folded without the shift", "β forgotten", {"shift": False}),
):
    different(name, why, lambda: seeded(lambda: ConvBn(bias=True)), lambda options=options: by_hand(**options), images)


class LinearBn(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.bn = nn.Linear(10, 4), nn.BatchNorm1d(4)

    def forward(self, x):
        return F.relu(self.bn(self.fc(x)))


def linear_utility():
    pair = seeded(LinearBn)
    return Folded(fuse_linear_bn_eval(pair.fc, pair.bn))


same("linear and batch norm folded by torch's utility", "fuse_linear_bn_eval in float32", lambda: seeded(LinearBn), linear_utility)


class FrozenBn(nn.Module):
    """As detection code has it: scale and shift computed once, in float32, and kept as buffers."""

    def __init__(self, bn, eps=None):
        super().__init__()
        scale = bn.weight.detach() * torch.rsqrt(bn.running_var + (bn.eps if eps is None else eps))
        self.register_buffer("scale", scale.view(1, -1, 1, 1))
        self.register_buffer("shift", (bn.bias.detach() - bn.running_mean * scale).view(1, -1, 1, 1))

    def forward(self, x):
        return x * self.scale + self.shift


same("a frozen batch norm with scale and shift stored", "γ/√(σ²+ε) and β − μγ/√(σ²+ε) in float32",
     lambda: seeded(lambda: nn.Sequential(nn.BatchNorm2d(3))), lambda: FrozenBn(seeded(lambda: nn.Sequential(nn.BatchNorm2d(3)))[0]),
     images)
different("a frozen batch norm stored without epsilon", "detection code of old forgot it",
          lambda: seeded(lambda: nn.Sequential(nn.BatchNorm2d(3))),
          lambda: FrozenBn(seeded(lambda: nn.Sequential(nn.BatchNorm2d(3)))[0], eps=0.0), images)

# ---- literals and tensors of one number ----------------------------------------------------------------------------

same("a tenth as tensor and as literal", "torch.tensor(0.1) is 0.1 rounded to float32", program(lambda x: x * torch.tensor(0.1) + 1),
     program(lambda x: x * 0.1 + 1))
different("a tenth and thirteen units in the last place", "0.1000001 is no rounding of 0.1", program(lambda x: x * torch.tensor(0.1)),
          program(lambda x: x * 0.1000001))
same("divided by 255 or times its reciprocal", "0.00392156862745098 is 1/255 to double precision", program(lambda x: x / 255),
     program(lambda x: x * 0.00392156862745098))
different("times 0.003921 for 1/255", "four digits are no rounding to float32", program(lambda x: x / 255), program(lambda x: x * 0.003921))
same("degrees with a float32 literal", "0.017453292 is π/180 within half a unit of float32", program(lambda x: torch.sin(x * (math.pi / 180))),
     program(lambda x: torch.sin(x * 0.0174532925)))
same("pi as float32 prints it", "3.1415927 is π rounded to float32", program(lambda x: torch.cos(x * math.pi)),
     program(lambda x: torch.cos(x * torch.tensor(3.1415927))))
different("pi with five digits", "3.14159 is seven units of float32 off", program(lambda x: torch.cos(x * math.pi)),
          program(lambda x: torch.cos(x * 3.14159)))
same("exp as exp2 with log2(e) to nine digits", "1.44269504 is log2(e) within half a unit of float32", program(lambda x: torch.exp(x)),
     program(lambda x: torch.exp2(x * 1.44269504)))
different("exp as exp2 with log2(e) to five digits", "1.4427 is not log2(e)", program(lambda x: torch.exp(x)), program(lambda x: torch.exp2(x * 1.4427)))
same("log2 through the natural log", "0.6931471805599453 is ln 2 to double precision",
     program(lambda x: torch.log2(1 + x * x)), program(lambda x: torch.log(1 + x * x) / 0.6931471805599453))
same("one minus nine tenths", "1 − 0.9 in double is 0.09999999999999998", program(lambda x: x * (1 - 0.9)), program(lambda x: x * 0.1))


def gelu_tanh(root, cubic=0.044715):
    return program(lambda x: 0.5 * x * (1 + torch.tanh(root * (x + cubic * x**3))))


same("gelu with √(2/π) to ten digits", "0.7978845608 is √(2/π) within half a unit of float32", program(lambda x: F.gelu(x, approximate="tanh")),
     gelu_tanh(0.7978845608))
same("gelu with √(2/π) as a float32 tensor", "stored in float32", gelu_tanh(math.sqrt(2 / math.pi)), gelu_tanh(torch.tensor(math.sqrt(2 / math.pi))))
different("gelu with √(2/π) to four digits", "0.7979", program(lambda x: F.gelu(x, approximate="tanh")), gelu_tanh(0.7979))
different("gelu with 0.0447", "the cubic's factor is 0.044715", program(lambda x: F.gelu(x, approximate="tanh")),
          gelu_tanh(math.sqrt(2 / math.pi), 0.0447), lambda: (randn(KNOBS["batch"], 10) * 2,))
different("quick gelu with 1.7", "the factor is 1.702", program(lambda x: x * torch.sigmoid(1.702 * x)), program(lambda x: x * torch.sigmoid(1.7 * x)))


class Stored(nn.Module):
    """A function of x and stored numbers."""

    def __init__(self, function, **numbers):
        super().__init__()
        self.function = function
        for name, number in numbers.items():
            self.register_buffer(name, torch.as_tensor(number, dtype=torch.float32))

    def forward(self, *args):
        return self.function(*args, **dict(self.named_buffers()))


same("softcap with the reciprocal stored", "1/30 rounded to float32", program(lambda x: torch.tanh(x / 30) * 30),
     lambda: Stored(lambda x, inverse: torch.tanh(x * inverse) * 30, inverse=1 / 30))
same("log(100) stored and exponentiated", "exp of log(100) in float32 is 100 within rounding", program(lambda x: x * 100.0),
     lambda: Stored(lambda x, scale: x * scale.exp(), scale=math.log(100)))
different("4.6052 stored for log(100)", "exp(4.6052) is 100.003", program(lambda x: x * 100.0),
          lambda: Stored(lambda x, scale: x * scale.exp(), scale=4.6052))
different("2.6592 stored for log(1/0.07)", "the default of a config, against the paper's",
          lambda: Stored(lambda x, scale: x * scale.exp(), scale=math.log(1 / 0.07)),
          lambda: Stored(lambda x, scale: x * scale.exp(), scale=2.6592))
same("attention scale stored for ten dimensions", "10^-1/2 rounded to float32",
     program(lambda x: torch.softmax(x @ x.mT / math.sqrt(10), -1)),
     lambda: Stored(lambda x, scale: torch.softmax((x * scale) @ x.mT, -1), scale=10**-0.5),
     lambda: (randn(KNOBS["batch"], 4, 10),))
different("attention scale of the wrong width", "12 for 10", program(lambda x: torch.softmax(x @ x.mT / math.sqrt(10), -1)),
          lambda: Stored(lambda x, scale: torch.softmax((x * scale) @ x.mT, -1), scale=12**-0.5),
          lambda: (randn(KNOBS["batch"], 4, 10),))

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def normalise(mean, std):
    return Stored(lambda x, mean, std: (x - mean.view(-1, 1, 1)) / std.view(-1, 1, 1), mean=mean, std=std)


def multiply_add(mean, std):
    gain = 1 / torch.tensor(std)
    return Stored(lambda x, gain, shift: torch.addcmul(shift.view(3, 1, 1), x, gain.view(3, 1, 1)), gain=gain,
                  shift=-torch.tensor(mean) * gain)


same("image normalisation as multiply and add", "1/std and −mean/std in float32", lambda: normalise(MEAN, STD), lambda: multiply_add(MEAN, STD),
     images)
different("image normalisation with another deviation", "0.224 in the last channel too", lambda: normalise(MEAN, STD),
          lambda: multiply_add(MEAN, [0.229, 0.224, 0.224]), images)

# ---- tables --------------------------------------------------------------------------------------------------------


def sinusoid(x, base=10000.0, less=0):
    """Computed where it is used."""
    half = x.shape[-1] // 2
    rate = torch.exp(-math.log(base) * torch.arange(half, dtype=torch.float32) / (half - less))
    angle = torch.arange(x.shape[-2], dtype=torch.float32)[:, None] * rate
    return x + torch.cat([angle.sin(), angle.cos()], -1)


def table(base=10000.0, length=16):
    """Computed once, by powers instead of exponentials."""
    rate = base ** (-torch.arange(0, 8, 2).float() / 8)
    angle = torch.outer(torch.arange(length).float(), rate)
    return Stored(lambda x, table: x + table[:x.shape[1]], table=torch.cat([torch.sin(angle), torch.cos(angle)], 1))


same("a sinusoidal table and its expression", "the table is stored in float32", program(sinusoid), table, tokens,
     condition="at most 16 tokens, which the table holds")
different("a sinusoidal table of base 10001", "the base is 10000", program(sinusoid), lambda: table(10001.0), tokens)
different("sinusoids spaced over half − 1", "two conventions of timestep embeddings", program(lambda x: sinusoid(x, less=1)), table, tokens)


def rotate(x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


class Rope(nn.Module):
    """Frequencies kept, angles computed."""

    def __init__(self, base=10000.0):
        super().__init__()
        self.register_buffer("inv_freq", 1.0 / base ** (torch.arange(0, 8, 2).float() / 8))

    def forward(self, x):
        angle = torch.arange(x.shape[1]).float()[:, None] * self.inv_freq
        return rotate(x, angle.cos(), angle.sin())


class RopeTable(nn.Module):
    """Cosines and sines kept."""

    def __init__(self, base=10000.0, length=16, shift=0):
        super().__init__()
        angle = torch.outer(torch.arange(shift, length + shift).float(), base ** (-torch.arange(0, 1, 2 / 8)))
        self.register_buffer("cos", angle.cos())
        self.register_buffer("sin", angle.sin())

    def forward(self, x):
        return rotate(x, self.cos[:x.shape[1]], self.sin[:x.shape[1]])


class RopeFly(nn.Module):
    """Nothing kept."""

    def __init__(self, base=10000.0):
        super().__init__()
        self.base = base

    def forward(self, x):
        power = torch.arange(4, dtype=torch.float32) / 4
        angle = torch.arange(x.shape[1], dtype=torch.float32)[:, None] * torch.exp(-power * math.log(self.base))
        return rotate(x, torch.cos(angle), torch.sin(angle))


same("rotary frequencies stored or computed", "1/base^(2i/d) against exp", Rope, RopeFly, tokens)
same("rotary tables against stored frequencies", "cosines of rounded angles", Rope, RopeTable, tokens, condition="at most 16 tokens")
different("rotary tables of base 500000", "Llama 2 against Llama 3", Rope, lambda: RopeTable(500000.0), tokens)
different("rotary tables that begin at one", "positions from 1", Rope, lambda: RopeTable(shift=1), tokens)


def slopes(heads=4, first=1):
    return torch.tensor([2 ** (-8 * (i + first) / heads) for i in range(heads)])


def alibi(x, slope):
    distance = (torch.arange(x.shape[-1])[None] - torch.arange(x.shape[-2])[:, None]).float()
    return torch.softmax(x + slope[:, None, None] * distance, -1)


def scores():
    return (randn(KNOBS["batch"], 6, 5, 5),)


same("alibi slopes stored for six heads", "2^(−8i/6) rounded to float32, against powers of the first",
     lambda: Stored(alibi, slope=slopes(6)), program(lambda x: alibi(x, torch.exp2(-torch.arange(1, 7) * (8 / 6)))), scores)
different("alibi slopes from zero", "2^0 for the first head", lambda: Stored(alibi, slope=slopes(6)), lambda: Stored(alibi, slope=slopes(6, 0)),
          scores)
same("a Hann window stored or computed", "torch.hann_window against its cosine",
     lambda: Stored(lambda x, window: x * window, window=torch.hann_window(10)),
     program(lambda x: x * (0.5 - 0.5 * torch.cos(2 * math.pi / 10 * torch.arange(10)))))
different("a symmetric Hann window", "periodic=False", lambda: Stored(lambda x, window: x * window, window=torch.hann_window(10)),
          lambda: Stored(lambda x, window: x * window, window=torch.hann_window(10, periodic=False)))


def betas():
    return torch.linspace(1e-4, 0.02, 20)


def noised(x, noise, step, kept):
    level = kept[step][:, None]
    return level.sqrt() * x + (1 - level).sqrt() * noise


def noised_tables(x, noise, step, root, rest):
    return root[step][:, None] * x + rest[step][:, None] * noise


def steps():
    b = KNOBS["batch"]
    return (randn(b, 8), randn(b, 9)[:, 1:].contiguous(), (torch.arange(b) * 7 + 1) % 20)


def kept():
    return (1 - betas()).cumprod(0)


same("noise levels as two tables of roots", "sqrt(ᾱ) and sqrt(1 − ᾱ) stored in float32", lambda: Stored(noised, kept=kept()),
     lambda: Stored(noised_tables, root=kept().sqrt(), rest=(1 - kept()).sqrt()), steps)
different("noise levels one step late", "ᾱ of the step before", lambda: Stored(noised, kept=kept()),
          lambda: Stored(noised_tables, root=torch.cat([torch.ones(1), kept()[:-1]]).sqrt(), rest=(1 - kept()).sqrt()), steps)

# ---- weights that hold products ------------------------------------------------------------------------------------


class NormLinear(nn.Module):
    def __init__(self, plus=0.0):
        super().__init__()
        self.gain, self.plus = nn.Parameter(torch.randn(10)), plus
        self.fc = nn.Linear(10, 4)

    def forward(self, x):
        return self.fc(x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * (self.gain + self.plus))


@torch.no_grad()
def gain_in_linear(plus, fold_plus, eps=1e-6):
    old = seeded(lambda: NormLinear(plus))
    fc = copy.deepcopy(old.fc)
    fc.weight.mul_(old.gain + fold_plus)

    class NoGain(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = fc

        def forward(self, x):
            return self.fc(x / torch.sqrt(x.pow(2).mean(-1, True) + eps))

    return NoGain()


same("a norm's gain in the next layer", "W·γ rounded to float32", lambda: seeded(NormLinear), lambda: gain_in_linear(0.0, 0.0))
different("a norm's gain folded without its one", "Gemma multiplies by 1 + γ", lambda: seeded(lambda: NormLinear(1.0)),
          lambda: gain_in_linear(1.0, 0.0))
different("a norm's gain folded, epsilon 1e-5", "the norm has 1e-6", lambda: seeded(NormLinear), lambda: gain_in_linear(0.0, 0.0, 1e-5),
          witness=lambda: (randn(KNOBS["batch"], 10) * 1e-3,))


class Lora(nn.Module):
    def __init__(self, alpha=16, rank=3):
        super().__init__()
        self.base = nn.Linear(10, 6)
        self.a, self.b = nn.Parameter(torch.randn(rank, 10)), nn.Parameter(torch.randn(6, rank))
        self.scaling = alpha / rank

    def forward(self, x):
        return self.base(x) + (x @ self.a.t() @ self.b.t()) * self.scaling


@torch.no_grad()
def merged(scaling):
    lora = seeded(Lora)
    fc = copy.deepcopy(lora.base)
    fc.weight += scaling * (lora.b @ lora.a)
    return fc


same("an adapter merged", "W + 16/3·BA in float32", lambda: seeded(Lora), lambda: merged(16 / 3))
different("an adapter merged by alpha over the root of the rank", "rank-stabilised scaling", lambda: seeded(Lora),
          lambda: merged(16 / math.sqrt(3)))
different("an adapter merged with 5.33", "16/3 is 5.3333…", lambda: seeded(Lora), lambda: merged(5.33))



def baked(dim=0):
    old = seeded(lambda: nn.Sequential(torch.nn.utils.parametrizations.weight_norm(nn.Linear(10, 6))))
    layer = old[0]
    with torch.no_grad():
        layer.parametrizations.weight.original0.mul_(1.5)           # as after training
        new = nn.Linear(10, 6)
        v, g = layer.parametrizations.weight.original1, layer.parametrizations.weight.original0
        new.weight.copy_(g * v / v.norm(dim=1 if dim == 0 else 0, keepdim=True))
        new.bias.copy_(layer.bias)
    return old, nn.Sequential(new)


same("weight norm baked into its weight", "g·v/‖v‖ in float32", lambda: baked()[0], lambda: baked()[1])
different("weight norm baked along the other dimension", "norms of columns", lambda: baked()[0], lambda: baked(1)[1])


class Clip(nn.Module):
    """Similarities times exp of a parameter."""

    def __init__(self):
        super().__init__()
        self.image, self.text = nn.Linear(10, 4, bias=False), nn.Linear(8, 4, bias=False)
        self.logit_scale = nn.Parameter(torch.tensor(math.log(1 / 0.07)))

    def forward(self, x, y):
        return self.logit_scale.exp() * F.normalize(self.image(x), dim=-1) @ F.normalize(self.text(y), dim=-1).t()


class ClipPort(nn.Module):
    def __init__(self, clip, scale):
        super().__init__()
        self.image, self.text = copy.deepcopy(clip.image), copy.deepcopy(clip.text)
        self.scale = nn.Parameter(scale)

    def forward(self, x, y):
        return F.normalize(self.image(x), dim=-1) @ F.normalize(self.text(y), dim=-1).t() * self.scale


def two():
    return (randn(KNOBS["batch"], 10), randn(KNOBS["batch"] + 1, 8))


same("a logit scale exponentiated when the weights are converted", "exp in float32, once",
     lambda: seeded(Clip), lambda: ClipPort(seeded(Clip), seeded(Clip).logit_scale.detach().exp()), two)
different("a logit scale converted to 14.2857 without its log's end", "exp(2.6592) for 1/0.07",
          lambda: seeded(Clip), lambda: ClipPort(seeded(Clip), torch.tensor(2.6592).exp()), two)
different("layer norm with epsilon 1e-6", "torch's default is 1e-5", program(lambda x: F.layer_norm(x, (10,))),
          program(lambda x: F.layer_norm(x, (10,), eps=1e-6)), witness=lambda: (randn(KNOBS["batch"], 10) * 1e-3,))
