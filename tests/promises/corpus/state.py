"""What a call does besides returning."""

import functools
import itertools
from collections import OrderedDict
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from promises.corpus.case import Case

CASES = []


def rows():
    return (torch.randn(4, 6),)


def seq():
    return (torch.randn(2, 5, 6),)


def two():
    return (torch.randn(4, 6), torch.randn(4, 6))


def add(name, truth, why, left, right, inputs=rows):
    CASES.append(Case(name, truth, why, left, right, inputs))


def plain(f):
    return lambda: f


def seeded(cls, *args, **kw):
    def build():
        torch.manual_seed(3)
        return cls(*args, **kw)
    return build


# ---------------------------------------------------------------- running statistics and other buffers

class Norm(nn.Module):
    """Batch norm in training, by hand."""

    def __init__(self, how="good"):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.rand(6) + 0.5), nn.Parameter(torch.randn(6))
        self.register_buffer("running_mean", torch.zeros(6))
        self.register_buffer("running_var", torch.ones(6))
        self.how = how

    def forward(self, x):
        if self.how == "torch":
            return F.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias, True, 0.1, 1e-5)
        mean, var = x.mean(0), x.var(0, unbiased=False)
        n = x.shape[0]
        with torch.no_grad():
            if self.how == "good":
                self.running_mean.mul_(0.9).add_(mean, alpha=0.1)
                self.running_var.mul_(0.9).add_(var * n / (n - 1), alpha=0.1)
            elif self.how == "lerp":
                self.running_mean.lerp_(mean, 0.1)
                self.running_var += 0.1 * (x.var(0) - self.running_var)
            elif self.how == "rebound":
                self.running_mean = 0.9 * self.running_mean + 0.1 * mean
                self.running_var = 0.9 * self.running_var + 0.1 * x.var(0)
            elif self.how == "biased":
                self.running_mean.mul_(0.9).add_(mean, alpha=0.1)
                self.running_var.mul_(0.9).add_(var, alpha=0.1)
            elif self.how == "momentum":
                self.running_mean.mul_(0.1).add_(mean, alpha=0.9)
                self.running_var.mul_(0.1).add_(var * n / (n - 1), alpha=0.9)
        return (x - mean) / (var + 1e-5).sqrt() * self.weight + self.bias


add("batch_norm_training_by_hand", "same", "same outputs and running statistics", seeded(Norm, "torch"), seeded(Norm, "good"))
add("batch_norm_statistics_by_lerp", "same", "lerp and an in-place sum", seeded(Norm, "torch"), seeded(Norm, "lerp"))
add("batch_norm_statistics_rebound", "same", "buffers bound anew and not written", seeded(Norm, "good"), seeded(Norm, "rebound"))
add("batch_norm_variance_biased", "different", "running_var takes the biased variance", seeded(Norm, "torch"), seeded(Norm, "biased"))
add("batch_norm_momentum_turned", "different", "0.9 for 0.1", seeded(Norm, "torch"), seeded(Norm, "momentum"))
add("batch_norm_statistics_never_updated", "different", "normalises by the batch, keeps no statistics", seeded(Norm, "torch"), seeded(Norm, ""))


class Center(nn.Module):
    """DINO: outputs are centred by the mean so far."""

    def __init__(self, early=False):
        super().__init__()
        self.register_buffer("center", torch.zeros(6))
        self.early = early

    def forward(self, x):
        if self.early == "no":
            return (x - self.center).softmax(-1)
        if self.early:
            self.center = self.center * 0.9 + x.detach().mean(0) * 0.1
            return (x - self.center).softmax(-1)
        out = (x - self.center).softmax(-1)
        self.center.mul_(0.9).add_(x.detach().mean(0), alpha=0.1)
        return out


class CenterOnce(Center):
    """What the update adds is right in the first call only, when the centre is zero."""

    def forward(self, x):
        out = (x - self.center).softmax(-1)
        self.center.copy_(0.1 * x.detach().mean(0))
        return out


add("center_updated_before_use", "different", "the first call sees its own batch", seeded(Center), seeded(Center, True))
add("center_never_updated", "different", "equal in the first call, not in the second", seeded(Center), seeded(Center, "no"))
add("center_forgets_its_past", "different", "0.1·mean instead of 0.9·c + 0.1·mean: the same while c is zero", seeded(Center), seeded(CenterOnce))


class Spectral(nn.Module):
    def __init__(self, keep=True):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(5, 6))
        self.register_buffer("u", F.normalize(torch.randn(5), dim=0))
        self.keep = keep

    def forward(self, x):
        with torch.no_grad():
            v = F.normalize(self.weight.t() @ self.u, dim=0)
            u = F.normalize(self.weight @ v, dim=0)
            if self.keep == "copy":
                self.u.copy_(u)
            elif self.keep:
                self.u = u
        return x @ (self.weight / torch.dot(u, self.weight @ v)).t()


add("power_iteration_not_kept", "different", "u starts anew in every call", seeded(Spectral), seeded(Spectral, False))
add("power_iteration_kept_two_ways", "same", "u bound anew, or written in place", seeded(Spectral), seeded(Spectral, "copy"))


class Unit(nn.Module):
    def __init__(self, write):
        super().__init__()
        self.weight, self.write = nn.Parameter(torch.randn(5, 6)), write

    def forward(self, x):
        w = self.weight / self.weight.norm(dim=1, keepdim=True)
        if self.write == "div":
            with torch.no_grad():
                self.weight.div_(self.weight.norm(dim=1, keepdim=True))
            w = self.weight
        elif self.write == "copy":
            with torch.no_grad():
                self.weight.copy_(w)
        return x @ w.t()


add("weight_normalised_in_place", "different", "every call returns the same; the weight itself is other after it", seeded(Unit, ""), seeded(Unit, "div"))
add("weight_normalised_in_place_both", "same", "div_ and copy_", seeded(Unit, "copy"), seeded(Unit, "div"))


class Renorm(nn.Module):
    """nn.Embedding(max_norm) writes into its table."""

    def __init__(self, write):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(7, 6), requires_grad=False)
        self.write = write

    def forward(self, idx):
        if self.write:
            return F.embedding(idx, self.weight, max_norm=1.0)
        rows = self.weight[idx]
        n = rows.norm(dim=-1, keepdim=True)
        return torch.where(n > 1, rows / (n + 1e-7), rows)


add("embedding_max_norm_writes_its_table", "different", "the rows that were looked up are shortened in the table", seeded(Renorm, True), seeded(Renorm, False),
    lambda: (torch.randint(0, 7, (2, 3)),))


# ---------------------------------------------------------------- inputs written in place

add("relu_in_place", "different", "x is written", plain(lambda x: F.relu(x) * 2), plain(lambda x: F.relu_(x) * 2))
add("plus_equals_writes_x", "different", "x += y", plain(lambda x, y: (x + y).exp()), plain(lambda x, y: x.__iadd__(y).exp()), two)


def add_in_place(x, y):
    x.add_(y)
    return x.exp()


def add_by_copy(x, y):
    x.copy_(y + x)
    return torch.exp(x)


def add_wrong_one(x, y):
    y.add_(x)
    return y.exp()


add("both_write_x", "same", "add_ and copy_", plain(add_in_place), plain(add_by_copy), two)
add("the_other_input_is_written", "different", "the sum goes to y instead of x", plain(add_in_place), plain(add_wrong_one), two)


def clone_first(x):
    y = x.clone()
    y[:, 0] = 0
    y.relu_()
    return y


def functional_first(x):
    return torch.cat([torch.zeros_like(x[:, :1]), x[:, 1:].relu()], 1)


def no_clone(x):
    y = x.contiguous()                 # no copy: x is contiguous
    y[:, 0] = 0
    return y.relu()


add("writes_into_a_clone", "same", "in place on a copy", plain(functional_first), plain(clone_first))
add("contiguous_is_no_copy", "different", "the first column of x is zero after the call", plain(functional_first), plain(no_clone))


def doubled_and_restored(x):
    x.mul_(2)
    y = x.sin()
    x.mul_(0.5)
    return y


add("x_is_restored", "same", "x doubled in place and halved again", plain(lambda x: (2 * x).sin()), plain(doubled_and_restored))


def write_through_view(x):
    x.view(-1)[::6].zero_()
    return x.sum(0)


def write_column(x):
    x[:, 0].fill_(0)
    return x.sum(0)


def mask_column(x):
    keep = torch.ones(6)
    keep[0] = 0
    return (x * keep).sum(0)


add("column_zeroed_through_a_flat_view", "same", "both write the same places of x", plain(write_column), plain(write_through_view))
add("column_masked_not_zeroed", "different", "one writes x, one does not", plain(write_column), plain(mask_column))


def cache_write(x, past):
    past["k"] = torch.cat([past["k"], x], 1)
    return past["k"].sum(1)


def cache_read(x, past):
    return torch.cat([past["k"], x], 1).sum(1)


def cache_write_later(x, past):
    total = past["k"].sum(1) + x.sum(1)
    past.update(k=torch.cat((past["k"], x), dim=1))
    return total


def with_past():
    return (torch.randn(2, 1, 6), {"k": torch.randn(2, 4, 6)})


add("argument_dict_not_updated", "different", "past['k'] grows on one side", plain(cache_write), plain(cache_read), with_past)
add("argument_dict_updated_on_both", "same", "past['k'] grows on both sides", plain(cache_write), plain(cache_write_later), with_past)


# ---------------------------------------------------------------- state of Python: counters, caches, closures

class Warmup(nn.Module):
    def __init__(self, how="count"):
        super().__init__()
        self.lin, self.steps, self.how = nn.Linear(6, 6), 0, how

    def forward(self, x):
        if self.how == "never":
            return self.lin(x) * min(1.0, (self.steps + 1) / 4)
        if self.how == "eager":
            self.steps += 2
            return self.lin(x) * min(1.0, self.steps / 8) if self.steps > 2 else self.lin(x) * 0.25
        if self.how == "other":
            scale = min(4, self.steps + 1) / 4
            self.steps = self.steps + 1
            return F.linear(x * scale, self.lin.weight, self.lin.bias * scale)
        self.steps += 1
        return self.lin(x) * min(1.0, self.steps / 4)


add("step_counter_stands_still", "different", "the scale of the second call", seeded(Warmup), seeded(Warmup, "never"))
add("step_counter_two_spellings", "same", "counts before, counts after", seeded(Warmup), seeded(Warmup, "other"))
add("step_counter_by_twos", "different", "the same outputs, steps is 2 after a call and not 1", seeded(Warmup), seeded(Warmup, "eager"))


class Kv(nn.Module):
    def __init__(self, how="cat"):
        super().__init__()
        self.qkv, self.how, self.n = nn.Linear(6, 18), how, 0
        self.past = None
        self.ring = None

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        kv = torch.stack([k, v])
        if self.how in ("cat", "forget", "front"):
            if self.past is not None:
                kv = torch.cat([kv, self.past] if self.how == "front" else [self.past, kv], 2)
            if self.how != "forget":
                self.past = kv
        else:
            if self.ring is None:
                self.ring = torch.zeros(2, x.shape[0], 64, 6, dtype=x.dtype)
            t = x.shape[1]
            self.ring[:, :, self.n:self.n + t] = kv.detach()
            if self.how == "ring":
                self.n += t
                kv = self.ring[:, :, :self.n]
            else:                                   # the write position is never moved
                kv = self.ring[:, :, :t]
        k, v = kv[0], kv[1]
        return (q @ k.transpose(1, 2)).softmax(-1) @ v


class KvAtPosition(Kv):
    """Adds the position by what is in the cache."""

    def __init__(self, count):
        super().__init__("cat")
        self.count = count

    def forward(self, x):
        start = self.past.shape[2] if self.count and self.past is not None else 0
        pos = torch.arange(start, start + x.shape[1], dtype=x.dtype)
        return super().forward(x + pos[:, None])


add("cache_never_kept", "different", "second call sees no past", seeded(Kv), seeded(Kv, "forget"), seq)
add("cache_written_at_one_place", "different", "the write position of the buffer stands still", seeded(Kv, "ring"), seeded(Kv, "stuck"), seq)
add("positions_start_at_zero_again", "different", "the cache is kept, positions start anew in the second call",
    seeded(KvAtPosition, True), seeded(KvAtPosition, False), seq)


def running_total(keep):
    def build():
        def f(x, history=[]):
            if not keep:
                history = []
            history.append(x.mean(0))
            return torch.stack(history).sum(0)
        # a fresh default for each program that is made
        f.__defaults__ = ([],)
        return f
    return build


class Total:
    def __init__(self):
        self.history = []

    def __call__(self, x):
        self.history += [x.sum(0) / x.shape[0]]
        total = self.history[0]
        for h in self.history[1:]:
            total = total + h
        return total * 1


add("mutable_default_argument", "different", "the list of a default argument grows", running_total(True), running_total(False))
add("mutable_default_or_attribute", "same", "a default argument and an object's list, both grow", running_total(True), lambda: Total())


def closure_counter(grow):
    def build():
        n = 0

        def f(x):
            nonlocal n
            n += grow
            return x * (1 + 0.5 * n) if grow else x * 1.5
        return f
    return build


class HalfSteps(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("factor", torch.tensor(1.0))

    def forward(self, x):
        self.factor += 0.5
        return x * self.factor


add("closure_counts", "different", "nonlocal n", closure_counter(1), closure_counter(0))
add("closure_or_buffer_counts", "same", "a closure's number against a buffer", closure_counter(1), lambda: HalfSteps())


def cached_mask(write):
    def build():
        @functools.cache
        def mask(t):
            return torch.ones(t, t).tril()

        def f(x):
            m = mask(x.shape[1])
            if write == "in place":
                m.mul_(0.5)
                return m @ x
            if write == "fresh":
                return torch.ones(x.shape[1], x.shape[1]).tril() * 0.5 @ x
            return (m * 0.5) @ x
        return f
    return build


add("cached_mask_is_written", "different", "lru_cache gives the same tensor, halved once more in the second call", cached_mask("in place"), cached_mask(""), seq)
add("cached_mask_or_fresh", "same", "a cache that changes nothing", cached_mask("fresh"), cached_mask(""), seq)


def cycling(values):
    def build():
        it = itertools.cycle(values)
        return lambda x: x * next(it)
    return build


class Alternate:
    def __init__(self):
        self.flip = False

    def __call__(self, x):
        self.flip = not self.flip
        return x * (1.0 if self.flip else 0.5)


add("iterator_moves_on", "different", "itertools.cycle over two scales", cycling([1.0, 0.5]), cycling([1.0]))

SCALE = {"value": 1.0}


def decaying(x):
    SCALE["value"] *= 0.5
    return x * SCALE["value"]


def halving(x):
    return x * 0.5


add("global_dict_decays", "different", "a global of the file is halved in each call", plain(decaying), plain(halving))


class ActNorm(nn.Module):
    """Set from the first batch."""

    def __init__(self, how=""):
        super().__init__()
        self.register_buffer("loc", torch.zeros(6))
        self.register_buffer("scale", torch.ones(6))
        self.initialized, self.how = False, how

    def forward(self, x):
        if not self.initialized or self.how == "always":
            if self.how == "other":
                var, mean = torch.var_mean(x.detach(), 0)
                self.loc, self.scale = mean, (var + 1e-6).rsqrt()
            else:
                self.loc.copy_(x.detach().mean(0))
                self.scale.copy_(1 / (x.detach().var(0) + 1e-6).sqrt())
            self.initialized = True
        return (x - self.loc) * self.scale


add("act_norm_set_in_every_call", "different", "only the first batch should set it", seeded(ActNorm), seeded(ActNorm, "always"))
add("act_norm_two_spellings", "same", "set once on both sides", seeded(ActNorm), seeded(ActNorm, "other"))


class Keeps(nn.Module):
    def __init__(self, how=""):
        super().__init__()
        self.q, self.k, self.how, self.last_attn = nn.Linear(6, 6), nn.Linear(6, 6), how, None

    def forward(self, x):
        s = self.q(x) @ self.k(x).transpose(1, 2)
        if self.how == "exp":
            e = (s - s.amax(-1, keepdim=True)).exp()
            p = e / e.sum(-1, keepdim=True)
        else:
            p = s.softmax(-1)
        self.last_attn = s if self.how == "scores" else p
        return p @ x


add("kept_attention_is_scores", "different", "last_attn holds scores instead of probabilities", seeded(Keeps), seeded(Keeps, "scores"), seq)
add("kept_attention_two_spellings", "same", "last_attn holds probabilities on both sides", seeded(Keeps), seeded(Keeps, "exp"), seq)


class Hooked(nn.Module):
    def __init__(self, hook):
        super().__init__()
        self.lin, self.hook = nn.Linear(6, 6), hook
        if hook:
            self.lin.register_forward_hook(lambda module, args, out: out * 0.5)
            self.lin.register_forward_pre_hook(lambda module, args: (args[0].tanh(),))

    def forward(self, x):
        return self.lin(x) if self.hook else self.lin(x.tanh()) / 2


class HookedTwice(Hooked):
    """A hook that hangs itself on once more in each call."""

    def forward(self, x):
        out = super().forward(x)
        self.lin.register_forward_hook(lambda module, args, out: out * 0.5)
        return out


add("hooks_do_the_scaling", "same", "forward hooks against plain code", seeded(Hooked, False), seeded(Hooked, True))
add("hooks_pile_up", "different", "one more hook after each call", seeded(Hooked, True), seeded(HookedTwice, True))


class Buffered(nn.Module):
    def __init__(self, reuse):
        super().__init__()
        self.lin, self.reuse = nn.Linear(6, 6), reuse
        self.register_buffer("out", torch.zeros(4, 6))

    def forward(self, x):
        y = self.lin(x).detach()
        if self.reuse:
            self.out.copy_(y)
            return self.out
        self.out.copy_(y)
        return y


add("result_is_the_static_buffer", "different", "returns the buffer that the next call overwrites", seeded(Buffered, False), seeded(Buffered, True))


class RopeFresh(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(6, 6)

    def forward(self, x):
        return self.lin(x) * (torch.arange(x.shape[1])[:, None] * 0.1 ** torch.arange(6)).cos()


class RopeKept(RopeFresh):
    def __init__(self):
        super().__init__()
        self.table = None

    def forward(self, x):
        t = x.shape[1]
        if self.table is None or self.table.shape[0] < t:
            self.table = (torch.arange(t)[:, None] * 0.1 ** torch.arange(6)).cos()
        return self.lin(x) * self.table[:t]


class DynamicScale(nn.Module):
    """The cache is keyed on nothing: the first batch's scale stays."""

    def __init__(self, keep):
        super().__init__()
        self.lin, self.keep, self.table = nn.Linear(6, 6), keep, None

    def forward(self, x):
        if self.table is None or not self.keep:
            self.table = x.detach().abs().amax() + 1
        return self.lin(x) / self.table


add("scale_of_the_first_batch_stays", "different", "a dynamic scale that is cached", seeded(DynamicScale, False), seeded(DynamicScale, True), seq)
add("table_made_once_or_always", "same", "the kept table is the same numbers", seeded(RopeFresh), seeded(RopeKept), seq)


# ---------------------------------------------------------------- aliasing

add("view_or_copy", "different", "one result shares memory with x", plain(lambda x: x.t()), plain(lambda x: x.t().clone()))
add("transpose_or_permute", "same", "both are views of x", plain(lambda x: x.transpose(0, 1)), plain(lambda x: x.permute(1, 0)))
add("same_result_twice", "different", "(y, y) against (y, a copy)", plain(lambda x: (lambda y: (y, y))(x.exp())), plain(lambda x: (x.exp(), x.exp())))
add("expand_or_repeat", "different", "an expanded result overlaps itself", plain(lambda x: x.sum(0).expand(3, 6)), plain(lambda x: x.sum(0).repeat(3, 1)))
add("x_itself_or_times_one", "different", "identity that returns x, or a new tensor", plain(lambda x: x), plain(lambda x: x * 1))
add("out_argument_or_fresh", "same", "out= into an empty tensor", plain(lambda x, y: x + y), plain(lambda x, y: torch.add(x, y, out=torch.empty_like(x))), two)


class Table(nn.Module):
    def __init__(self, copy):
        super().__init__()
        self.weight, self.copy = nn.Parameter(torch.randn(5, 6)), copy

    def forward(self, x):
        head = self.weight[:3] if self.copy != "narrow" else self.weight.narrow(0, 0, 3)
        return x @ self.weight.t(), head.clone() if self.copy is True else head


add("part_of_a_weight_returned", "different", "a view of the weight, or a copy", seeded(Table, False), seeded(Table, True))
add("part_of_a_weight_two_views", "same", "both are views of the weight", seeded(Table, False), seeded(Table, "narrow"))


# ---------------------------------------------------------------- what is returned

@dataclass
class Out:
    hidden: torch.Tensor
    pooled: torch.Tensor
    extra: torch.Tensor | None = None


add("dict_in_another_order", "same", "the order of keys is none",
    plain(lambda x: {"a": x.exp(), "b": x.sin()}), plain(lambda x: {"b": x.sin(), "a": x.exp()}))
add("dict_or_ordered_dict_built_late", "same", "keys added one by one",
    plain(lambda x: {"loss": x.square().mean(), "logits": x * 2}), plain(lambda x: dict(OrderedDict([("logits", x + x), ("loss", (x * x).mean())]))))
add("dataclass_or_dict", "same", "a dataclass is the dict of its fields that are not None",
    plain(lambda x: Out(x.exp(), x.mean(0))), plain(lambda x: {"hidden": x.exp(), "pooled": x.mean(0)}))
add("nested_the_same_way", "same", "tuples in a list, made by loop and by hand",
    plain(lambda x: [(x.sin(), x.cos()), (x.sin() * 2, x.cos() * 2)]), plain(lambda x: [(x.sin() * s, x.cos() * s) for s in (1, 2)]))
add("none_on_both_sides", "same", "(y, None)", plain(lambda x: (x.exp(), None)), plain(lambda x: (torch.exp(x), None)))
add("none_left_out", "different", "(y, None) against (y,)", plain(lambda x: (x.exp(), None)), plain(lambda x: (x.exp(),)))
add("tensor_or_none", "different", "the second result is None on one side", plain(lambda x: (x.exp(), x.mean())), plain(lambda x: (x.exp(), None)))
add("tuple_or_list", "different", "tuple against list", plain(lambda x: (x.exp(), x.sin())), plain(lambda x: [x.exp(), x.sin()]))
add("tensor_or_tuple_of_one", "different", "y against (y,)", plain(lambda x: x.exp()), plain(lambda x: (x.exp(),)))
add("order_of_hidden_and_cell", "different", "(c, h) for (h, c)", plain(lambda x: (x.sin(), x.cos())), plain(lambda x: (x.cos(), x.sin())))
add("keys_with_a_dot", "different", "'a.b' is no path", plain(lambda x: {"a.b": x.exp()}), plain(lambda x: {"a": {"b": x.exp()}}))
add("keys_one_and_string_one", "different", "1 and '1'", plain(lambda x: {1: x.exp()}), plain(lambda x: {"1": x.exp()}))
add("flat_or_nested_tuple", "different", "(a, (b, c)) against ((a, b), c)",
    plain(lambda x: (x.sin(), (x.cos(), x.exp()))), plain(lambda x: ((x.sin(), x.cos()), x.exp())))
add("list_or_dict_of_numbers", "different", "[a, b] against {0: a, 1: b}", plain(lambda x: [x.sin(), x.cos()]), plain(lambda x: {0: x.sin(), 1: x.cos()}))
add("keepdim", "different", "[N] against [N, 1]", plain(lambda x: x.mean(-1)), plain(lambda x: x.mean(-1, keepdim=True)))
add("scalar_or_one_element", "different", "[] against [1]", plain(lambda x: x.square().mean()), plain(lambda x: x.square().mean().reshape(1)))
add("argmax_in_int32", "different", "int64 against int32", plain(lambda x: x.argmax(-1)), plain(lambda x: x.argmax(-1).int()))
add("mask_bool_or_float", "different", "bool against float", plain(lambda x: x > 0), plain(lambda x: (x > 0).to(x.dtype)))
add("float64_result", "different", "the sum is kept in float64", plain(lambda x: x.sum(-1)), plain(lambda x: x.sum(-1, dtype=torch.float64)))
add("number_beside_the_tensors", "different", "n is 4 against 6", plain(lambda x: {"y": x.exp(), "n": x.shape[0]}), plain(lambda x: {"y": x.exp(), "n": x.shape[1]}))
add("type_of_a_number", "different", "1 against 1.0", plain(lambda x: (x.exp(), 1)), plain(lambda x: (x.exp(), 1.0)))
add("text_beside_the_tensors", "different", "'mean' against 'sum'", plain(lambda x: {"y": x.mean(0), "reduction": "mean"}),
    plain(lambda x: {"y": x.mean(0), "reduction": "sum"}))
add("shape_beside_the_tensors", "same", "numbers of sizes, told two ways", plain(lambda x: (x.exp(), x.shape[0] * x.shape[1])), plain(lambda x: (x.exp(), x.numel())))


# ---------------------------------------------------------------- more that is true

class Ema(nn.Module):
    """A shadow of the weight, moved in each call."""

    def __init__(self, how=""):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(6, 6))
        self.register_buffer("shadow", torch.zeros(6, 6))
        self.how = how

    def forward(self, x):
        with torch.no_grad():
            if self.how == "lerp":
                self.shadow.lerp_(self.weight, 0.25)
            elif self.how == "sub":
                self.shadow.sub_((self.shadow - self.weight) * 0.25)
            elif self.how == "late":
                y = x @ self.shadow
                self.shadow.lerp_(self.weight, 0.25)
                return y + x @ self.weight
        return x @ self.shadow + x @ self.weight


add("shadow_weights_two_spellings", "same", "lerp_ and sub_", seeded(Ema, "lerp"), seeded(Ema, "sub"))
add("shadow_weights_a_call_late", "different", "used before they are moved", seeded(Ema, "lerp"), seeded(Ema, "late"))


class Streaming(nn.Module):
    """Keeps the last two frames as left context of a causal convolution."""

    def __init__(self, how="conv"):
        super().__init__()
        self.conv, self.how = nn.Conv1d(6, 6, 3), how
        self.context = None

    def forward(self, x):
        x = x.transpose(1, 2)
        past = torch.zeros(x.shape[0], 6, 2, dtype=x.dtype) if self.context is None else self.context
        full = torch.cat([past, x], -1)
        self.context = full[..., :2] if self.how == "front" else full[..., -2:]
        if self.how == "taps":
            t = x.shape[-1]
            y = sum(self.conv.weight[..., i] @ full[..., i:i + t] for i in range(3)) + self.conv.bias[:, None]
            return y.transpose(1, 2)
        return self.conv(full).transpose(1, 2)


add("streaming_convolution_as_taps", "same", "context kept on both sides", seeded(Streaming), seeded(Streaming, "taps"), seq)
add("streaming_keeps_the_first_frames", "different", "the context is cut at the wrong end: seen in the second call", seeded(Streaming), seeded(Streaming, "front"), seq)
add("accumulates_in_place_or_anew", "same", "in-place sums on a fresh tensor",
    plain(lambda x, y: torch.zeros_like(x).add_(x).addcmul_(x, y).sub_(y)), plain(lambda x, y: x + x * y - y), two)
add("detach_or_data", "same", "both share memory with x", plain(lambda x: x.detach()), plain(lambda x: x.data))
add("alternates_two_ways", "same", "itertools.cycle and a flag", cycling([1.0, 0.5]), lambda: Alternate())


class Lstm(nn.Module):
    """Carries its state from call to call."""

    def __init__(self, how=""):
        super().__init__()
        self.cell, self.how = nn.LSTMCell(6, 6), how
        self.hc = None

    def forward(self, x):
        h, c = self.hc if self.hc is not None else (torch.zeros_like(x), torch.zeros_like(x))
        if self.how == "hand":
            i, f, g, o = (F.linear(x, self.cell.weight_ih, self.cell.bias_ih) + F.linear(h, self.cell.weight_hh, self.cell.bias_hh)).chunk(4, -1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
        else:
            h, c = self.cell(x, (h, c))
        self.hc = (h, torch.zeros_like(c)) if self.how == "lost" else (h, c)
        return h * 1


add("state_carried_by_hand", "same", "an LSTM cell by hand, state kept on both sides", seeded(Lstm), seeded(Lstm, "hand"))
add("cell_state_lost_between_calls", "different", "h is kept, c starts at zero again", seeded(Lstm), seeded(Lstm, "lost"))


class KvBuffer(nn.Module):
    """The cache of Kv("cat") as a buffer of 64 places under other names."""

    def __init__(self):
        super().__init__()
        self.qkv, self.filled, self.store = nn.Linear(6, 18), 0, None

    def forward(self, x):
        q, k, v = self.qkv(x).split(6, -1)
        if self.store is None:
            self.store = [torch.zeros(x.shape[0], 64, 6, dtype=x.dtype) for _ in range(2)]
        end = self.filled + x.shape[1]
        for s, new in zip(self.store, (k, v)):
            s[:, self.filled:end] = new.detach()
        self.filled = end
        return torch.matmul((q @ self.store[0][:, :end].mT).softmax(-1), self.store[1][:, :end])


class KvCat(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.past_k, self.past_v = nn.Linear(6, 18), None, None

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        self.past_k = k if self.past_k is None else torch.cat([self.past_k, k], 1)
        self.past_v = v if self.past_v is None else torch.cat([self.past_v, v], 1)
        return (q @ self.past_k.transpose(1, 2)).softmax(-1) @ self.past_v


add("cache_by_cat_or_buffer", "same", "the cache grows, or fills a buffer", seeded(KvCat), seeded(KvBuffer), seq)


class Cumulative(nn.Module):
    """nn.BatchNorm1d(momentum=None): the average over all calls."""

    def __init__(self, hand):
        super().__init__()
        self.bn, self.hand = nn.BatchNorm1d(6, momentum=None), hand

    def forward(self, x):
        if not self.hand:
            return self.bn(x)
        with torch.no_grad():
            self.bn.num_batches_tracked += 1
            n = self.bn.num_batches_tracked
            self.bn.running_mean += (x.mean(0) - self.bn.running_mean) / n
            self.bn.running_var += (x.var(0) - self.bn.running_var) / n
        y = (x - x.mean(0)) / (x.var(0, unbiased=False) + self.bn.eps).sqrt()
        return y * self.bn.weight + self.bn.bias


class CumulativeUncounted(Cumulative):
    def forward(self, x):
        out = F.batch_norm(x, None, None, self.bn.weight, self.bn.bias, True)
        with torch.no_grad():
            self.bn.running_mean.copy_(x.mean(0))
            self.bn.running_var.copy_(x.var(0))
            self.bn.num_batches_tracked += 1
        return out


add("cumulative_statistics_by_hand", "same", "momentum=None averages over calls", seeded(Cumulative, False), seeded(Cumulative, True))
add("cumulative_statistics_of_the_last_batch", "different", "equal after one call, not after two", seeded(Cumulative, False), seeded(CumulativeUncounted, False))


class Meter(nn.Module):
    """RL: observations normalised by all seen so far."""

    def __init__(self, how):
        super().__init__()
        self.register_buffer("count", torch.zeros(()))
        self.register_buffer("mean", torch.zeros(6))
        self.register_buffer("m2", torch.zeros(6))
        self.how = how

    def forward(self, x):
        x = x.detach()
        n, mean = x.shape[0], x.mean(0)
        d = mean - self.mean
        total = self.count + n
        if self.how == "chan":
            self.m2 += ((x - mean) ** 2).sum(0) + d * d * self.count * n / total
            self.mean += d * n / total
        else:
            new = (self.count * self.mean + x.sum(0)) / total
            self.m2 = self.m2 + self.count * (self.mean - new) ** 2 + (x - new).square().sum(0)
            self.mean = new
        self.count = total
        return (x - self.mean) / (self.m2 / self.count + 1e-4).sqrt()


add("running_moments_two_formulas", "same", "Chan's update, and moments about the new mean", seeded(Meter, "chan"), seeded(Meter, "about"))


def clamp_in_place(x):
    return x.clamp_(-1, 1).sum(-1)


def clamp_by_data(x):
    x.data.copy_(x.maximum(torch.tensor(-1.0)).minimum(torch.tensor(1.0)))
    return x.sum(dim=1)


add("clamped_in_place_or_by_data", "same", "clamp_ and data.copy_", plain(clamp_in_place), plain(clamp_by_data))


def scatter_in(y, idx, x):
    y.index_add_(0, idx, x)
    return y.tanh()


def scatter_add(y, idx, x):
    y.scatter_add_(0, idx[:, None].expand(-1, 6), x)
    return torch.tanh(y)


def scatter_out(y, idx, x):
    return y.index_add(0, idx, x).tanh()


def rows_to_add():
    return (torch.randn(3, 6), torch.randint(0, 3, (5,)), torch.randn(5, 6))


add("index_add_or_scatter_add_in_place", "same", "both write y", plain(scatter_in), plain(scatter_add), rows_to_add)
add("index_add_without_underscore", "different", "y is not written", plain(scatter_in), plain(scatter_out), rows_to_add)
add("chunk_or_slices", "same", "two views of x each", plain(lambda x: x.chunk(2, 1)), plain(lambda x: (x[:, :3], x[:, 3:])))
add("chunk_or_copies", "different", "views of x against copies", plain(lambda x: x.chunk(2, 1)), plain(lambda x: tuple(c.clone() for c in x.chunk(2, 1))))


class Slots:
    __slots__ = ("value",)

    def __init__(self):
        self.value = None

    def __call__(self, x):
        m = x.mean(0)
        self.value = m if self.value is None else 0.5 * self.value + 0.5 * m
        return x - self.value


def smoothing():
    past = []

    def f(x):
        m = x.sum(0) / x.shape[0]
        if past:
            m = past.pop() * 0.5 + m * 0.5
        past.append(m)
        return x - m
    return f


class SlotsForget(Slots):
    def __call__(self, x):
        m = x.mean(0)
        self.value = m if self.value is None else 0.5 * self.value
        return x - self.value


add("slots_or_closure_list", "same", "an exponential mean in a slot, and in a list of one", lambda: Slots(), smoothing)
add("slot_forgets_the_batch", "different", "the second call does not look at its own batch", lambda: Slots(), lambda: SlotsForget())


class Feedback(nn.Module):
    """Each call sees what the one before returned."""

    def __init__(self, how):
        super().__init__()
        self.lin, self.last, self.how = nn.Linear(6, 6, bias=False), None, how

    def forward(self, x):
        if self.how == "linear" and self.last is not None:
            y = (self.lin(x) + F.linear(self.last, self.lin.weight) * 0.5).tanh()
        else:
            y = self.lin(x if self.last is None else x + 0.5 * self.last).tanh()
        self.last = y.detach().clone()
        return y


add("feedback_by_linearity", "same", "W(x + h/2) = Wx + Wh/2 from the second call on", seeded(Feedback, ""), seeded(Feedback, "linear"))
add("iterators_of_equal_scales", "same", "a cycle of one scale moves and changes nothing", cycling([0.5]), plain(lambda x: x / 2))
