"""Weights that happen to be equal. Right is loaded from a left made under the same seed, as a port loads a checkpoint."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

from promises.corpus.case import Case

CASES = []
PORTS = {}          # for validation: how left is made, how right is made from it, and inputs at other draws


def tokens():
    return (torch.randn(2, 5, 8),)


def ids():
    return (torch.randint(0, 11, (2, 5)),)


def images():
    return (torch.randn(2, 4, 6, 6),)


def add(name, truth, why, make, port, inputs=tokens, redraw=None):
    def left():
        torch.manual_seed(5)
        return make().eval()

    def right():
        return port(left()).eval()
    CASES.append(Case(name, truth, why, left, right, inputs))
    PORTS[name] = (make, port, redraw or inputs)


def same_names(cls, *args, strict=True):
    """A port with the same names: load_state_dict."""
    def port(left):
        right = cls(*args)
        right.load_state_dict(left.state_dict(), strict=strict)
        return right
    return port


# ---------------------------------------------------------------- transformer blocks

class Block(nn.Module):
    def __init__(self, first="norm1", second="norm2", bias=True):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(8), nn.LayerNorm(8)
        self.mix, self.up, self.down = nn.Linear(8, 8), nn.Linear(8, 16), nn.Linear(16, 8)
        nn.init.zeros_(self.mix.bias), nn.init.zeros_(self.up.bias), nn.init.zeros_(self.down.bias)
        self.first, self.second, self.bias = first, second, bias

    def forward(self, x):
        x = x + self.mix(getattr(self, self.first)(x)).cumsum(1)
        h = F.gelu(F.linear(getattr(self, self.second)(x), self.up.weight, self.up.bias if self.bias else None))
        return x + self.down(h)


add("norm1_twice", "different", "norm2 is held and never used", Block, same_names(Block, "norm1", "norm1"))
add("norms_swapped", "different", "norm1 and norm2 swapped, both ones and zeros", Block, same_names(Block, "norm2", "norm1"))
add("zero_bias_left_out", "different", "the bias of up is loaded and not added", Block, same_names(Block, "norm1", "norm2", False))


class Functional(nn.Module):
    """The block as a serving engine writes it: flat parameters, own layer norm."""

    def __init__(self, left, affine=True):
        super().__init__()
        self.ln_attn = nn.ParameterList([left.norm1.weight.detach().clone(), left.norm1.bias.detach().clone()])
        self.ln_mlp = nn.ParameterList([left.norm2.weight.detach().clone(), left.norm2.bias.detach().clone()])
        self.w = nn.ParameterList([m.weight.detach().t().clone() for m in (left.mix, left.up, left.down)])
        self.b = nn.ParameterList([m.bias.detach().clone() for m in (left.mix, left.up, left.down)])
        self.affine = affine

    def ln(self, x, w, b):
        x = x - x.mean(-1, keepdim=True)
        x = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5)
        return torch.addcmul(b, x, w) if self.affine else x

    def forward(self, x):
        x = x + torch.cumsum(self.ln(x, *self.ln_attn) @ self.w[0] + self.b[0], 1)
        return x + F.gelu(self.ln(x, *self.ln_mlp) @ self.w[1] + self.b[1]) @ self.w[2] + self.b[2]


add("block_flat_and_transposed", "same", "other names, transposed matrices, own layer norm", Block, Functional)
add("block_norms_not_affine", "different", "the affine part of both norms is never applied", Block, lambda l: Functional(l, False))


class Stack(nn.Module):
    def __init__(self, order=(0, 1, 2), norm=None):
        super().__init__()
        self.layers = nn.ModuleList(nn.ModuleDict({"norm": nn.RMSNorm(8, eps=1e-6), "lin": nn.Linear(8, 8)}) for _ in range(3))
        self.final = nn.RMSNorm(8, eps=1e-6)
        for layer in self.layers:
            nn.init.zeros_(layer["lin"].bias)
        self.order, self.norm = order, norm

    def forward(self, x):
        for i in self.order:
            norm = self.layers[i if self.norm is None else self.norm]["norm"]
            x = x + F.silu(self.layers[i]["lin"](norm(x)))
        return self.final(x)


add("norm_of_layer_0_everywhere", "different", "a loop variable forgotten", Stack, same_names(Stack, (0, 1, 2), 0))


class Scanned(nn.Module):
    """All layers stacked into one tensor, as for a scan."""

    def __init__(self, left, off=0, final=True):
        super().__init__()
        self.norm = nn.Parameter(torch.stack([l["norm"].weight.detach() for l in left.layers]))
        self.kernel = nn.Parameter(torch.stack([l["lin"].weight.detach().t() for l in left.layers]))
        self.bias = nn.Parameter(torch.stack([l["lin"].bias.detach() for l in left.layers]))
        self.scale = nn.Parameter(left.final.weight.detach().clone())
        self.off, self.final = off, final

    def rms(self, x, w):
        return w * x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-6)

    def forward(self, x):
        for i in range(3):
            j = (i + self.off) % 3
            h = self.rms(x, self.norm[j]) @ self.kernel[i] + self.bias[i]
            x = x + h * h.sigmoid()
        return self.rms(x, self.scale if self.final else self.norm[2])


add("layers_stacked_for_a_scan", "same", "three layers in one tensor each", Stack, Scanned)
add("scan_rotates_the_norms", "different", "norm of layer i + 1 in layer i; the stacked kernels say the order", Stack, lambda l: Scanned(l, 1))
add("final_norm_is_the_last_layers", "different", "the final norm reads the third layer's scale", Stack, lambda l: Scanned(l, 0, False))


class Copies(nn.Module):
    """nn.TransformerEncoder's way: one layer, deep-copied, so that all layers hold equal numbers."""

    def __init__(self, order=(0, 1, 2)):
        super().__init__()
        layer = nn.Sequential(nn.LayerNorm(8), nn.Linear(8, 8), nn.Tanh())
        self.layers = nn.ModuleList(copy.deepcopy(layer) for _ in range(3))
        self.order = order

    def forward(self, x):
        for i in self.order:
            x = x + self.layers[i](x)
        return x


add("deep_copies_first_used_thrice", "different", "layers are copies; only layer 0 is used", Copies, same_names(Copies, (0, 0, 0)))
add("deep_copies_reversed", "different", "layers are copies; run from last to first", Copies, same_names(Copies, (2, 1, 0)))


class CopiesFlat(nn.Module):
    def __init__(self, left):
        super().__init__()
        self.layers = nn.ModuleList(nn.ModuleDict({"ln": nn.LayerNorm(8), "fc": nn.Linear(8, 8)}) for _ in range(3))
        for new, old in zip(self.layers, left.layers):
            new["ln"].load_state_dict(old[0].state_dict())
            new["fc"].load_state_dict(old[1].state_dict())

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer["fc"](layer["ln"](x))) + x
        return x


add("deep_copies_in_order", "same", "layers are copies; each in its place", Copies, CopiesFlat)


class Albert(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Sequential(nn.LayerNorm(8), nn.Linear(8, 8))

    def forward(self, x):
        for _ in range(3):
            x = x + self.shared(x).relu()
        return x


class AlbertUnrolled(nn.Module):
    def __init__(self, left):
        super().__init__()
        layer = copy.deepcopy(left.shared)
        self.blocks = nn.ModuleList([layer, layer, layer])            # one object thrice

    def forward(self, x):
        for b in self.blocks:
            x = F.relu(F.linear(b[0](x), b[1].weight, b[1].bias)) + x
        return x


add("shared_layer_on_both_sides", "same", "ALBERT: one layer, thrice on both sides", Albert, AlbertUnrolled)


# ---------------------------------------------------------------- attention

class QkNorm(nn.Module):
    def __init__(self, swap=False, axis=-1):
        super().__init__()
        self.qkv = nn.Linear(8, 48)
        nn.init.zeros_(self.qkv.bias)
        self.q_norm, self.k_norm = nn.RMSNorm(4, eps=1e-6), nn.RMSNorm(4, eps=1e-6)
        self.temperature = nn.Parameter(torch.ones(4))                # per head: 4 heads of width 4
        self.swap, self.axis = swap, axis

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, 4, 4).permute(2, 0, 3, 1, 4)
        nq, nk = (self.k_norm, self.q_norm) if self.swap == "weights" else (self.q_norm, self.k_norm)
        q, k = nq(q), nk(k)
        q = q * (self.temperature if self.axis == "width" else self.temperature[:, None, None])
        return (q @ k.transpose(-1, -2) / 2).softmax(-1) @ v


class QkNormManual(nn.Module):
    def __init__(self, left):
        super().__init__()
        w, b = left.qkv.weight.detach(), left.qkv.bias.detach()
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(8, 16) for _ in range(3))
        for i, p in enumerate((self.q_proj, self.k_proj, self.v_proj)):
            p.weight.data, p.bias.data = w[16 * i:16 * i + 16].clone(), b[16 * i:16 * i + 16].clone()
        self.q_norm = nn.Parameter(left.q_norm.weight.detach().clone())
        self.k_norm = nn.Parameter(left.k_norm.weight.detach().clone())
        self.temperature = nn.Parameter(left.temperature.detach().clone())

    def forward(self, x):
        def heads(y):
            return y.unflatten(-1, (4, 4)).transpose(1, 2)

        def rms(y, w):
            return y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6) * w
        q, k, v = heads(self.q_proj(x)), heads(self.k_proj(x)), heads(self.v_proj(x))
        s = torch.einsum("bhid,bhjd->bhij", rms(q, self.q_norm), rms(k, self.k_norm)) * 0.5
        return torch.einsum("bhij,bhjd->bhid", (s * self.temperature.view(1, 4, 1, 1)).softmax(-1), v)


class QkBiasless(QkNormManual):
    """k_proj's bias is not added: not harmless here, since k is normed."""

    def forward(self, x):
        b, t, _ = x.shape
        q, v = self.q_proj(x).view(b, t, 4, 4).transpose(1, 2), self.v_proj(x).view(b, t, 4, 4).transpose(1, 2)
        k = F.linear(x, self.k_proj.weight).view(b, t, 4, 4).transpose(1, 2)
        q = F.rms_norm(q, (4,), self.q_norm, 1e-6) * self.temperature[:, None, None]
        return (q @ F.rms_norm(k, (4,), self.k_norm, 1e-6).transpose(-1, -2) / 2).softmax(-1) @ v


add("qk_norms_unfused", "same", "qkv split, norms by hand, temperature on the scores", QkNorm, QkNormManual)
add("qk_norm_weight_elsewhere", "same", "scores only see the product w_q · w_k, so swapping the two scales changes nothing",
    QkNorm, same_names(QkNorm, "weights"))
add("temperature_over_width", "different", "a scale per head, put over the width: 4 heads of width 4", QkNorm, same_names(QkNorm, False, "width"))
add("key_bias_left_out_before_norm", "different", "k_proj.bias is zero and not added", QkNorm, QkBiasless)


class Mha(nn.Module):
    """No norm on the keys: a bias of the keys adds the same to all scores of a query."""

    def __init__(self, kb=True, vb=True):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(8, 8) for _ in range(4))
        for m in (self.q, self.k, self.v, self.o):
            nn.init.zeros_(m.bias)
        self.kb, self.vb = kb, vb

    def forward(self, x):
        k = F.linear(x, self.k.weight, self.k.bias if self.kb else None)
        v = F.linear(x, self.v.weight, self.v.bias if self.vb else None)
        return self.o((self.q(x) @ k.transpose(1, 2) / 8 ** 0.5).softmax(-1) @ v)


add("key_bias_cancels_in_softmax", "same", "a bias of the keys shifts all scores of a row alike", Mha, same_names(Mha, False))
add("value_bias_left_out", "different", "v.bias is zero and not added", Mha, same_names(Mha, True, False))


class MhaFused(nn.Module):
    def __init__(self, left):
        super().__init__()
        self.wqkv = nn.Linear(8, 24)
        self.out = nn.Linear(8, 8)
        scale = {"q": 8 ** -0.5, "k": 1.0, "v": 1.0}
        self.wqkv.weight.data = torch.cat([getattr(left, n).weight.detach() * scale[n] for n in "qkv"])
        self.wqkv.bias.data = torch.cat([getattr(left, n).bias.detach() * scale[n] for n in "qkv"])
        self.out.load_state_dict(left.o.state_dict())

    def forward(self, x):
        q, k, v = self.wqkv(x).split(8, -1)
        return self.out(torch.matmul((q @ k.mT).softmax(-1), v))


add("attention_fused_with_scale_folded_in", "same", "1/√8 folded into weight and bias of q", Mha, MhaFused)


class Sink(nn.Module):
    def __init__(self, learned=True):
        super().__init__()
        self.q, self.k = nn.Linear(8, 8, bias=False), nn.Linear(8, 8, bias=False)
        self.sinks = nn.Parameter(torch.zeros(1))
        self.learned = learned

    def forward(self, x):
        s = self.q(x) @ self.k(x).transpose(1, 2)
        if self.learned:
            s = torch.cat([s, self.sinks.expand(x.shape[0], x.shape[1], 1)], -1)
            return s.softmax(-1)[..., :-1] @ x
        m = s.amax(-1, keepdim=True).clamp(min=0)
        e = (s - m).exp()
        return e / (e.sum(-1, keepdim=True) + (-m).exp()) @ x


class SinkManual(Sink):
    def forward(self, x):
        s = self.q(x) @ self.k(x).transpose(1, 2)
        e = s.exp()
        return (e @ x) / (e.sum(-1, keepdim=True) + self.sinks.exp())


add("sink_taken_for_softmax_one", "different", "a learned sink that is zero is not exp(0) in the divisor", Sink, same_names(Sink, False))
add("sink_by_hand", "same", "a learned sink as one more term of the divisor", Sink, same_names(SinkManual))


class RelBias(nn.Module):
    """Swin: a table of zeros, read by the distance."""

    def __init__(self, flip=False):
        super().__init__()
        self.qk = nn.Linear(8, 16, bias=False)
        self.table = nn.Parameter(torch.zeros(9))
        self.flip = flip

    def forward(self, x):
        q, k = self.qk(x).chunk(2, -1)
        i = torch.arange(5)
        d = i[None] - i[:, None] if self.flip else i[:, None] - i[None]
        return (q @ k.transpose(1, 2) + self.table[d + 4]).softmax(-1) @ x


class RelBiasRows(RelBias):
    def forward(self, x):
        w = self.qk.weight
        s = (x @ w[:8].t()) @ (x @ w[8:].t()).mT
        bias = torch.stack([self.table[i:i + 5].flip(0) for i in range(5)])
        return torch.softmax(s + bias, dim=2) @ x


add("relative_bias_transposed", "different", "distances with the other sign, in a table of zeros", RelBias, same_names(RelBias, True))
add("relative_bias_by_rows", "same", "the table's rows as flipped slices", RelBias, same_names(RelBiasRows))


# ---------------------------------------------------------------- gates, scales, adapters

class Gated(nn.Module):
    def __init__(self, how="tanh"):
        super().__init__()
        self.lin, self.gate = nn.Linear(8, 8), nn.Parameter(torch.zeros(1))
        self.scale = nn.Parameter(torch.full((8,), 1e-1))
        self.other = nn.Parameter(torch.full((8,), 1e-1))
        self.how = how

    def forward(self, x):
        if self.how == "none":
            return x + self.other * x.sin()
        if self.how == "reuse":
            return x + self.gate.tanh() * (self.scale * self.lin(x)) + self.scale * x.sin()
        if self.how == "linear":
            return x + self.gate * (self.scale * self.lin(x)) + self.other * x.sin()
        if self.how == "inside":
            g = self.gate.tanh() * self.scale
            return x + F.linear(x, self.lin.weight * g[:, None], self.lin.bias * g) + x.sin() * self.other
        return x + self.gate.tanh() * (self.scale * self.lin(x)) + self.other * x.sin()


add("zero_gate_branch_removed", "different", "tanh(gate) is zero as it is: the branch was taken out", Gated, same_names(Gated, "none"))
add("zero_gate_without_tanh", "different", "gate for tanh(gate), at zero", Gated, same_names(Gated, "linear"))
add("layer_scale_of_the_other_branch", "different", "two layer scales of 0.1; right uses the first twice", Gated, same_names(Gated, "reuse"))
add("gate_folded_into_the_matrix", "same", "gate and layer scale multiplied into weight and bias at run time", Gated, same_names(Gated, "inside"))


class Lora(nn.Module):
    def __init__(self, on=True, first=True):
        super().__init__()
        self.base = nn.Linear(8, 8)
        self.a, self.b = nn.Parameter(torch.randn(2, 8)), nn.Parameter(torch.zeros(8, 2))
        self.on, self.first = on, first

    def forward(self, x):
        if not self.on:
            return self.base(x).tanh()
        if self.first:
            return (self.base(x) + x @ self.a.t() @ self.b.t() * 2).tanh()
        return F.linear(x, self.base.weight + 2 * self.b @ self.a, self.base.bias).tanh()


add("lora_forgotten", "different", "B is zero at the start: the adapter is loaded and not applied", Lora, same_names(Lora, False))
add("lora_merged_at_run_time", "same", "W + 2·B·A", Lora, same_names(Lora, True, False))


class Clip(nn.Module):
    def __init__(self, how="exp"):
        super().__init__()
        self.image, self.text = nn.Linear(8, 4, bias=False), nn.Linear(8, 4, bias=False)
        self.logit_scale, self.logit_bias = nn.Parameter(torch.zeros(())), nn.Parameter(torch.zeros(()))
        self.how = how

    def forward(self, x):
        a, b = F.normalize(self.image(x), dim=-1), F.normalize(self.text(x), dim=-1)
        s = a @ b.transpose(1, 2)
        if self.how == "exp":
            return s * self.logit_scale.exp() + self.logit_bias
        if self.how == "plus":
            return s * (1 + self.logit_scale) + self.logit_bias
        return (s + self.logit_bias) * self.logit_scale.exp()


add("logit_scale_one_plus", "different", "1 + s for exp(s), at zero", Clip, same_names(Clip, "plus"))
add("logit_bias_inside_the_scale", "different", "(s + b)·e^t for s·e^t + b, with b = 0 and t = 0", Clip, same_names(Clip, "inside"))


class Prelu(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.act = nn.Conv2d(4, 6, 3, padding=1), nn.PReLU(6)

    def forward(self, x):
        return self.act(self.conv(x))


class PreluPort(nn.Module):
    def __init__(self, left, channels=True):
        super().__init__()
        self.conv = copy.deepcopy(left.conv)
        self.slope = nn.Parameter(left.act.weight.detach().clone())
        self.channels = channels

    def forward(self, x):
        y = self.conv(x)
        a = self.slope.view(1, -1, 1, 1) if self.channels else self.slope[0]
        return y.clamp(min=0) + a * y.clamp(max=0)


add("prelu_by_hand", "same", "a slope for each channel", Prelu, PreluPort, images)
add("prelu_one_slope_for_all", "different", "the first channel's slope for all; all are 0.25", Prelu, lambda l: PreluPort(l, False), images)


# ---------------------------------------------------------------- norms and running statistics

class ConvBn(nn.Module):
    def __init__(self, swap=False):
        super().__init__()
        self.c1, self.c2 = nn.Conv2d(4, 4, 3, padding=1), nn.Conv2d(4, 4, 1)
        self.bn1, self.bn2 = nn.BatchNorm2d(4), nn.BatchNorm2d(4)
        self.swap = swap

    def forward(self, x):
        x = self.bn1(self.c1(x)).relu()
        y = self.c2(x)
        if self.swap:
            return F.batch_norm(y, self.bn1.running_mean, self.bn1.running_var, self.bn2.weight, self.bn2.bias, eps=1e-5)
        return self.bn2(y)


class ConvBnPort(nn.Module):
    def __init__(self, left, how=""):
        super().__init__()
        self.convs = nn.ModuleList(copy.deepcopy(c) for c in (left.c1, left.c2))
        self.stats = nn.ParameterList(nn.Parameter(torch.stack([b.running_mean, b.running_var, b.weight.detach(), b.bias.detach()]),
                                                   requires_grad=False) for b in (left.bn1, left.bn2))
        self.how = how

    def bn(self, x, s):
        mean, var, w, b = s.view(4, 1, 4, 1, 1).unbind(0)
        if self.how == "beta":
            return (x - mean + b) * w / (var + 1e-5).sqrt()
        if self.how == "mean":
            return x * w / (var + 1e-5).sqrt() + b
        k = w * (var + 1e-5).rsqrt()
        return x * k + (b - mean * k)

    def forward(self, x):
        return self.bn(self.convs[1](F.relu(self.bn(self.convs[0](x), self.stats[0]))), self.stats[1])


add("running_statistics_of_the_other_layer", "different", "bn2 reads bn1's fresh statistics", ConvBn, same_names(ConvBn, True), images)
add("batch_norm_as_scale_and_shift", "same", "eval; statistics as parameters", ConvBn, ConvBnPort, images)
add("batch_norm_beta_before_scale", "different", "beta is scaled too; it is zero", ConvBn, lambda l: ConvBnPort(l, "beta"), images)
add("batch_norm_mean_not_subtracted", "different", "a fresh running mean is zero", ConvBn, lambda l: ConvBnPort(l, "mean"), images)


class Group(nn.Module):
    def __init__(self, how="torch"):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(4)), nn.Parameter(torch.zeros(4))
        self.how = how

    def forward(self, x):
        if self.how == "torch":
            return F.group_norm(x, 2, self.weight, self.bias)
        g = x.unflatten(1, (2, 2))
        mean, var = g.mean((2, 3, 4), keepdim=True), g.var((2, 3, 4), keepdim=True, unbiased=False)
        y = (g - mean) / (var + 1e-5).sqrt()
        if self.how == "group":
            return (y * self.weight.view(2, 2)[:, :1, None, None] + self.bias.view(2, 2)[:, :1, None, None]).flatten(1, 2)
        if self.how == "strided":
            return (y * self.weight.view(2, 2).t()[..., None, None] + self.bias.view(2, 2).t()[..., None, None]).flatten(1, 2)
        return y.flatten(1, 2) * self.weight[:, None, None] + self.bias[:, None, None]


add("group_norm_by_hand", "same", "affine for each channel", Group, same_names(Group, "hand"), images)
add("group_norm_affine_for_each_group", "different", "the group's first channel's scale for both", Group, same_names(Group, "group"), images)
add("group_norm_channels_interleaved", "different", "channels of the affine part in another order", Group, same_names(Group, "strided"), images)


class SquareNorm(nn.Module):
    def __init__(self, turn=False):
        super().__init__()
        self.norm, self.turn = nn.LayerNorm((6, 6)), turn

    def forward(self, x):
        if self.turn:                            # channels-last port: the plane turned, the affine part not
            return self.norm(x.transpose(2, 3)).transpose(2, 3) * 1
        return self.norm(x) * 1


add("layer_norm_over_a_turned_plane", "different", "weight over H×W with H = W, used turned", SquareNorm, same_names(SquareNorm, True), images)


class Gemma(nn.Module):
    def __init__(self, one=True, use=True):
        super().__init__()
        self.weight, self.lin = nn.Parameter(torch.zeros(8)), nn.Linear(8, 8, bias=False)
        self.one, self.use = one, use

    def forward(self, x):
        y = F.rms_norm(self.lin(x), (8,), eps=1e-6)
        if not self.use:
            return y
        return y + y * self.weight if self.one == "add" else y * (1 + self.weight)


add("gemma_scale_left_out", "different", "(1 + w) with w = 0 looks like none", Gemma, same_names(Gemma, True, False))
add("gemma_scale_multiplied_out", "same", "y + y·w", Gemma, same_names(Gemma, "add"))


# ---------------------------------------------------------------- recurrent, embeddings, experts

class Gru(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(8, 6, batch_first=True)
        nn.init.zeros_(self.rnn.bias_ih_l0), nn.init.zeros_(self.rnn.bias_hh_l0)

    def forward(self, x):
        return self.rnn(x)[0]


class GruCell(nn.Module):
    def __init__(self, left, inside=True):
        super().__init__()
        for n, p in left.rnn.named_parameters():
            self.register_parameter(n[:-3], nn.Parameter(p.detach().clone()))
        self.inside = inside

    def forward(self, x):
        h, out = x.new_zeros(x.shape[0], 6), []
        for i in range(x.shape[1]):
            r1, z1, n1 = F.linear(x[:, i], self.weight_ih, self.bias_ih).chunk(3, -1)
            r2, z2, n2 = F.linear(h, self.weight_hh).chunk(3, -1)
            br, bz, bn = self.bias_hh.chunk(3)
            r, z = (r1 + r2 + br).sigmoid(), (z1 + z2 + bz).sigmoid()
            n = (n1 + r * (n2 + bn)).tanh() if self.inside else (n1 + r * n2 + bn).tanh()
            h = (1 - z) * n + z * h
            out.append(h)
        return torch.stack(out, 1)


add("gru_by_hand", "same", "b_hn inside the reset gate", Gru, GruCell)
add("gru_bias_outside_the_reset_gate", "different", "b_hn outside the reset gate; it is zero", Gru, lambda l: GruCell(l, False))


class Lm(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.norm, self.head = nn.Embedding(11, 8), nn.LayerNorm(8), nn.Linear(8, 11)
        nn.init.zeros_(self.head.bias)
        self.head.weight.data.copy_(self.embed.weight.data)           # starts equal, is not tied

    def forward(self, idx):
        return self.head(self.norm(self.embed(idx)).relu())


class LmPort(nn.Module):
    def __init__(self, left, how=""):
        super().__init__()
        self.wte = nn.Parameter(left.embed.weight.detach().clone())
        self.ln_f = copy.deepcopy(left.norm)
        if how != "tied":
            self.lm_head = nn.Parameter(left.head.weight.detach().clone())
        self.bias = nn.Parameter(left.head.bias.detach().clone())
        self.how = how

    def forward(self, idx):
        h = torch.relu(self.ln_f(F.embedding(idx, self.wte)))
        return h @ (self.wte if self.how == "tied" else self.lm_head).t() + self.bias


add("head_tied_that_is_not", "different", "the head starts as a copy of the embedding; right ties it", Lm, lambda l: LmPort(l, "tied"), ids)


class TiedLm(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.norm, self.head = nn.Embedding(11, 8), nn.LayerNorm(8), nn.Linear(8, 11, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, idx):
        return self.head(self.norm(self.embed(idx)).relu())


class TiedPort(nn.Module):
    def __init__(self, left):
        super().__init__()
        self.wte = nn.Parameter(left.embed.weight.detach().clone())
        self.g, self.b = nn.Parameter(left.norm.weight.detach().clone()), nn.Parameter(left.norm.bias.detach().clone())

    def forward(self, idx):
        return F.linear(F.layer_norm(self.wte[idx], (8,), self.g, self.b).clamp(min=0), self.wte)


add("head_tied_on_both_sides", "same", "one tensor on either side", TiedLm, TiedPort, ids)


class Learned(nn.Module):
    def __init__(self, how="", pos="pos"):
        super().__init__()
        self.tok, self.pos = nn.Embedding(11, 8), nn.Parameter(torch.zeros(5, 8))
        self.how = how

    def forward(self, idx):
        if self.how == "none":
            return self.tok(idx).tanh()
        p = self.pos.flip(0) if self.how == "back" else self.pos
        return (self.tok(idx) + p).tanh()


add("zero_positions_left_out", "different", "positions start at zero and are not added", Learned, same_names(Learned, "none"), ids)
add("zero_positions_backwards", "different", "positions start at zero and are added backwards", Learned, same_names(Learned, "back"), ids)


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(8, 3, bias=False)
        self.experts = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))
        for e in self.experts:
            nn.init.zeros_(e.bias)

    def forward(self, x):
        p = self.gate(x).softmax(-1)
        return sum(p[..., i:i + 1] * e(x) for i, e in enumerate(self.experts))


class Packed(nn.Module):
    def __init__(self, left, order=(0, 1, 2), weighted=True):
        super().__init__()
        self.router = nn.Parameter(left.gate.weight.detach().t().clone())
        self.w = nn.Parameter(torch.stack([e.weight.detach() for e in left.experts]))
        self.bias = nn.Parameter(torch.stack([e.bias.detach() for e in left.experts]))
        self.order, self.weighted = list(order), weighted

    def forward(self, x):
        p = (x @ self.router).softmax(-1)
        y = torch.einsum("btd,efd,bte->btf", x, self.w, p)
        if not self.weighted:
            return y + self.bias.sum(0)
        return y + p @ self.bias[self.order]


add("experts_packed", "same", "experts in one tensor each", Experts, Packed)
add("experts_biases_rotated", "different", "biases of other experts; all zero, packed as the matrices", Experts, lambda l: Packed(l, (1, 2, 0)))
add("experts_biases_not_weighted", "different", "zero biases added without the router's weight", Experts, lambda l: Packed(l, (0, 1, 2), False))


class Byol(nn.Module):
    def __init__(self, net="target"):
        super().__init__()
        self.online = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4))
        self.target = copy.deepcopy(self.online)
        self.net = net

    def forward(self, x):
        a, b = self.online(x), getattr(self, self.net)(x.flip(1))
        return (F.normalize(a, dim=-1) * F.normalize(b, dim=-1)).sum(-1)


add("target_network_is_the_online_one", "different", "the target starts as a copy; right runs online twice", Byol, same_names(Byol, "online"))


class Quant(nn.Module):
    def __init__(self, axis="out"):
        super().__init__()
        self.weight, self.scale = nn.Parameter(torch.randn(8, 8)), nn.Parameter(torch.ones(8))
        self.axis = axis

    def forward(self, x):
        if self.axis == "in":
            return x @ (self.weight * self.scale).t()
        if self.axis == "after":
            return (x @ self.weight.t()) * self.scale
        return x @ (self.weight * self.scale[:, None]).t()


add("channel_scale_over_the_inputs", "different", "a square matrix, scales of ones along the other axis", Quant, same_names(Quant, "in"))
add("channel_scale_after_the_product", "same", "scales of outputs, before or after", Quant, same_names(Quant, "after"))


# ---------------------------------------------------------------- inputs that happen to be equal or constant

class Masked(nn.Module):
    def __init__(self, how=""):
        super().__init__()
        self.lin, self.how = nn.Linear(8, 8), how

    def forward(self, x, mask):
        y = self.lin(x).tanh()
        if self.how == "mean":
            return y.mean(1)
        if self.how == "bmm":
            return (mask[:, None] @ y)[:, 0] / mask.sum(-1, keepdim=True).clamp(min=1)
        return (y * mask[..., None]).sum(1) / mask.sum(-1, keepdim=True).clamp(min=1)


def open_mask():
    return (torch.randn(3, 5, 8), torch.ones(3, 5))


def some_mask():
    return (torch.randn(3, 5, 8), torch.tensor([[1, 1, 0, 1, 1], [1, 1, 1, 0, 0], [0, 1, 1, 1, 1]], dtype=torch.get_default_dtype()))


add("mask_of_ones_ignored", "different", "the example's mask is all ones; right takes the mean", Masked, same_names(Masked, "mean"), open_mask, some_mask)
add("mask_of_ones_as_product", "same", "masked mean as a matrix product", Masked, same_names(Masked, "bmm"), open_mask, some_mask)


class Cross(nn.Module):
    def __init__(self, swap=False):
        super().__init__()
        self.q, self.kv, self.swap = nn.Linear(8, 8), nn.Linear(8, 16), swap

    def forward(self, x, memory):
        k, v = self.kv(x if self.swap else memory).chunk(2, -1)
        return (self.q(x) @ k.transpose(1, 2)).softmax(-1) @ v


def twice():
    x = torch.randn(2, 5, 8)
    return (x, x.clone())


add("cross_attention_reads_itself", "different", "the example's memory equals x; right never reads memory",
    Cross, same_names(Cross, True), twice, lambda: (torch.randn(2, 5, 8), torch.randn(2, 5, 8)))


class State(nn.Module):
    def __init__(self, use=True):
        super().__init__()
        self.i, self.h, self.use = nn.Linear(8, 6), nn.Linear(6, 6, bias=False), use

    def forward(self, x, h):
        h = h if self.use else torch.zeros_like(h)
        for t in range(x.shape[1]):
            h = (self.i(x[:, t]) + self.h(h)).tanh()
        return h


add("initial_state_of_zeros_ignored", "different", "h0 is zeros in the example; right starts at zero always",
    State, same_names(State, False), lambda: (torch.randn(2, 5, 8), torch.zeros(2, 6)), lambda: (torch.randn(2, 5, 8), torch.randn(2, 6)))


class Positions(nn.Module):
    def __init__(self, given=True):
        super().__init__()
        self.tok, self.wpe, self.given = nn.Embedding(11, 8), nn.Embedding(5, 8), given

    def forward(self, idx, pos):
        return self.tok(idx) + self.wpe(pos if self.given else torch.arange(idx.shape[1]).expand_as(idx)).tanh()


add("position_ids_not_read", "different", "position_ids are 0 … 4 in the example; right counts by itself", Positions, same_names(Positions, False),
    lambda: (torch.randint(0, 11, (2, 5)), torch.arange(5).repeat(2, 1)), lambda: (torch.randint(0, 11, (2, 5)), torch.randint(0, 5, (2, 5))))


class Parallel(nn.Module):
    """Two norms of one input, summed: swapping them changes nothing."""

    def __init__(self, a="a", b="b"):
        super().__init__()
        self.a, self.b, self.lin = nn.LayerNorm(8), nn.LayerNorm(8), nn.Linear(8, 8)
        self.names = a, b

    def forward(self, x):
        return self.lin(getattr(self, self.names[0])(x) + getattr(self, self.names[1])(x))


add("parallel_norms_in_other_order", "same", "a(x) + b(x)", Parallel, same_names(Parallel, "b", "a"))
add("parallel_norms_one_twice", "different", "a(x) + a(x)", Parallel, same_names(Parallel, "a", "a"))


# ---------------------------------------------------------------- more that is true

class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(8, 6, batch_first=True)
        nn.init.zeros_(self.rnn.bias_hh_l0)
        nn.init.zeros_(self.rnn.bias_ih_l0)
        self.rnn.bias_ih_l0.data[6:12] = 1               # forget gate

    def forward(self, x):
        return self.rnn(x)[0]


class LstmCell(nn.Module):
    def __init__(self, left, crossed=False):
        super().__init__()
        for n, p in left.rnn.named_parameters():
            self.register_parameter(n, nn.Parameter(p.detach().clone()))
        self.crossed = crossed

    def forward(self, x):
        h = c = x.new_zeros(x.shape[0], 6)
        out = []
        b1, b2 = (self.bias_hh_l0, self.bias_ih_l0) if self.crossed else (self.bias_ih_l0, self.bias_hh_l0)
        for i in range(x.shape[1]):
            z = F.linear(x[:, i], self.weight_ih_l0, b1) + F.linear(h, self.weight_hh_l0, b2)
            i_, f, g, o = z.chunk(4, -1)
            c = f.sigmoid() * c + i_.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            out.append(h)
        return torch.stack(out, 1)


class LstmOneBias(LstmCell):
    """Only bias_ih is added: bias_hh is zero."""

    def forward(self, x):
        h = c = x.new_zeros(x.shape[0], 6)
        out = []
        for i in range(x.shape[1]):
            i_, f, g, o = (x[:, i] @ self.weight_ih_l0.t() + h @ self.weight_hh_l0.t() + self.bias_ih_l0).chunk(4, -1)
            c = f.sigmoid() * c + i_.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            out.append(h)
        return torch.stack(out, 1)


add("lstm_by_hand", "same", "forget bias of one, the rest zero", Lstm, LstmCell)
add("lstm_biases_crossed", "same", "both biases are only ever added up, so crossing them changes nothing", Lstm, lambda l: LstmCell(l, True))
add("lstm_second_bias_dropped", "different", "bias_hh is zero and not added", Lstm, LstmOneBias)


class Glu(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.gate, self.up, self.down = nn.RMSNorm(8, eps=1e-6), nn.Linear(8, 12), nn.Linear(8, 12), nn.Linear(12, 8)
        for m in (self.gate, self.up, self.down):
            nn.init.zeros_(m.bias)

    def forward(self, x):
        x = self.norm(x)
        return self.down(F.silu(self.gate(x)) * self.up(x))


class GluFused(nn.Module):
    def __init__(self, left, inter=False):
        super().__init__()
        w, b = [left.up.weight.detach(), left.gate.weight.detach()], [left.up.bias.detach(), left.gate.bias.detach()]
        join = (lambda t: torch.stack(t, 1).flatten(0, 1)) if inter else torch.cat
        self.wi, self.bi = nn.Parameter(join(w)), nn.Parameter(join(b))
        self.scale = nn.Parameter(left.norm.weight.detach().clone())
        self.wo, self.bo = nn.Parameter(left.down.weight.detach().t().clone()), nn.Parameter(left.down.bias.detach().clone())
        self.inter = inter

    def forward(self, x):
        x = self.scale * (x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6))
        h = F.linear(x, self.wi, self.bi)
        up, gate = (h[..., ::2], h[..., 1::2]) if self.inter else h.chunk(2, -1)
        return torch.addmm(self.bo, (gate * gate.sigmoid() * up).flatten(0, 1), self.wo).view(*x.shape[:-1], 8)


add("up_and_gate_fused", "same", "up before gate, zero biases", Glu, GluFused)
add("up_and_gate_interleaved", "same", "up and gate row by row (GPT-OSS)", Glu, lambda l: GluFused(l, True))


class Depthwise(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(8, 8, 3, groups=8)
        self.skip = nn.Parameter(torch.ones(8))                # Mamba's D
        nn.init.zeros_(self.conv.bias)

    def forward(self, x):
        y = self.conv(F.pad(x.transpose(1, 2), (2, 0))).transpose(1, 2)
        return F.silu(y) + self.skip * x


class Shifts(nn.Module):
    def __init__(self, left, skip=True):
        super().__init__()
        self.taps = nn.Parameter(left.conv.weight.detach()[:, 0].t().clone())
        self.b, self.D = nn.Parameter(left.conv.bias.detach().clone()), nn.Parameter(left.skip.detach().clone())
        self.skip = skip

    def forward(self, x):
        p, t = F.pad(x, (0, 0, 2, 0)), x.shape[1]
        y = sum(p[:, i:i + t] * self.taps[i] for i in range(3)) + self.b
        return y * y.sigmoid() + (self.D * x if self.skip else x)


add("causal_convolution_as_shifts", "same", "taps transposed, zero bias, D of ones", Depthwise, Shifts)
add("skip_of_ones_as_plain_residual", "different", "D starts at ones; right adds x itself", Depthwise, lambda l: Shifts(l, False))


class BnAtRunTime(nn.Module):
    """Weights of the convolution scaled by the statistics in every call."""

    def __init__(self, left):
        super().__init__()
        self.c1, self.c2, self.bn1, self.bn2 = (copy.deepcopy(m) for m in (left.c1, left.c2, left.bn1, left.bn2))

    def fold(self, x, c, bn, pad):
        k = bn.weight / (bn.running_var + bn.eps).sqrt()
        return F.conv2d(x, c.weight * k[:, None, None, None], (c.bias - bn.running_mean) * k + bn.bias, padding=pad)

    def forward(self, x):
        return self.fold(self.fold(x, self.c1, self.bn1, 1).relu(), self.c2, self.bn2, 0)


add("batch_norm_folded_at_run_time", "same", "statistics folded into the weights in each call", ConvBn, BnAtRunTime, images)


class Instance(nn.Module):
    def __init__(self, group=False):
        super().__init__()
        self.weight, self.bias, self.group = nn.Parameter(torch.ones(4)), nn.Parameter(torch.zeros(4)), group

    def forward(self, x):
        if self.group:
            return F.group_norm(x, 4, self.weight, self.bias)
        return F.instance_norm(x, weight=self.weight, bias=self.bias)


add("instance_norm_as_group_norm", "same", "as many groups as channels", Instance, same_names(Instance, True), images)


class Bert(nn.Module):
    def __init__(self):
        super().__init__()
        self.word, self.kind, self.place = nn.Embedding(11, 8), nn.Embedding(2, 8), nn.Embedding(5, 8)
        nn.init.zeros_(self.kind.weight), nn.init.zeros_(self.place.weight)
        self.norm = nn.LayerNorm(8)

    def forward(self, idx):
        return self.norm(self.word(idx) + self.kind(torch.zeros_like(idx)) + self.place(torch.arange(idx.shape[1])))


class BertPort(nn.Module):
    def __init__(self, left, row=0):
        super().__init__()
        self.word, self.kind, self.place = (nn.Parameter(getattr(left, n).weight.detach().clone()) for n in ("word", "kind", "place"))
        self.norm, self.row = copy.deepcopy(left.norm), row

    def forward(self, idx):
        return self.norm(self.word[idx] + self.kind[self.row] + self.place[: idx.shape[1]])


add("type_embedding_of_zeros", "same", "row 0 of a table of zeros", Bert, BertPort, ids)
add("type_embedding_other_row", "different", "row 1 of a table of zeros", Bert, lambda l: BertPort(l, 1), ids)


class Conv1D(nn.Module):
    """GPT-2's transposed linear layer."""

    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(8), nn.LayerNorm(8)
        self.w1, self.b1 = nn.Parameter(torch.randn(8, 16) * 0.2), nn.Parameter(torch.zeros(16))
        self.w2, self.b2 = nn.Parameter(torch.randn(16, 8) * 0.2), nn.Parameter(torch.zeros(8))

    def forward(self, x):
        h = torch.addmm(self.b1, self.ln_1(x).view(-1, 8), self.w1)
        return self.ln_2(x + torch.addmm(self.b2, F.gelu(h, approximate="tanh"), self.w2).view_as(x))


class Linears(nn.Module):
    def __init__(self, left, post="post"):
        super().__init__()
        self.pre, self.post, self.fc, self.proj = copy.deepcopy(left.ln_1), copy.deepcopy(left.ln_2), nn.Linear(8, 16), nn.Linear(16, 8)
        self.fc.weight.data, self.fc.bias.data = left.w1.detach().t().clone(), left.b1.detach().clone()
        self.proj.weight.data, self.proj.bias.data = left.w2.detach().t().clone(), left.b2.detach().clone()
        self.last = post

    def forward(self, x):
        return getattr(self, self.last)(x + self.proj(F.gelu(self.fc(self.pre(x)), approximate="tanh")))


add("gpt2_conv1d_as_linear", "same", "transposed weights, two fresh norms renamed", Conv1D, Linears)
add("gpt2_final_norm_is_the_first", "different", "the norm at the end is the one at the start; the other is held", Conv1D, lambda l: Linears(l, "pre"))


class Gqa(nn.Module):
    def __init__(self, how="repeat"):
        super().__init__()
        self.q, self.kv, self.gain, self.how = nn.Linear(8, 16), nn.Linear(8, 8), nn.Parameter(torch.ones(4)), how
        nn.init.zeros_(self.q.bias), nn.init.zeros_(self.kv.bias)

    def forward(self, x):
        b, t, _ = x.shape
        q = self.q(x).view(b, t, 4, 4).transpose(1, 2)
        if self.how == "group":                            # heads 0, 1 share kv 0
            k = self.kv(x).view(b, t, 2, 4).transpose(1, 2)
            g = q.view(b, 2, 2, t, 4)
            y = torch.einsum("bghij,bgkj->bghik", g, k).softmax(-1)
            y = torch.einsum("bghik,bgkj->bghij", y, k).reshape(b, 4, t, 4)
        else:
            k = self.kv(x).view(b, t, 2, 4).transpose(1, 2).repeat_interleave(2, 1)
            y = (q @ k.transpose(2, 3)).softmax(-1) @ k
        gain = self.gain.view(2, 2).t().reshape(4) if self.how == "turned" else self.gain
        return (y * gain[:, None, None]).transpose(1, 2).flatten(2)


add("grouped_heads_without_repeating", "same", "groups as an axis; a gain of ones for each head", Gqa, same_names(Gqa, "group"))
add("head_gains_in_another_order", "different", "gains of ones, taken group-last", Gqa, same_names(Gqa, "turned"))


class Projector(nn.Module):
    def __init__(self, split=False):
        super().__init__()
        self.pre, self.lin, self.post, self.split = nn.LayerNorm(8), nn.Linear(8, 8), nn.LayerNorm(8), split

    def forward(self, x):
        if not self.split:
            return self.post(self.lin(self.pre(x)))
        y = F.layer_norm(x, (8,)) * self.pre.weight
        y = y @ self.lin.weight.t() + (self.lin.weight @ self.pre.bias + self.lin.bias)
        return F.layer_norm(y, (8,)) * self.post.weight + self.post.bias


add("norm_bias_pushed_through_the_matrix", "same", "W·(n·g + b) + c = W·(n·g) + (W·b + c)", Projector, same_names(Projector, True))


class Whitened(nn.Module):
    """Input statistics as fresh buffers: mean zero, deviation one."""

    def __init__(self, how="sub"):
        super().__init__()
        self.register_buffer("mean", torch.zeros(8))
        self.register_buffer("std", torch.ones(8))
        self.lin, self.how = nn.Linear(8, 4), how

    def forward(self, x):
        if self.how == "fold":
            w = self.lin.weight / self.std
            return F.linear(x, w, self.lin.bias - w @ self.mean)
        return self.lin((x - self.mean) / self.std)


add("input_statistics_folded_at_run_time", "same", "mean and deviation folded into the first layer in each call", Whitened, same_names(Whitened, "fold"))
