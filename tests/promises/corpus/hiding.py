"""Programs that hide what they do, and honest ones that only look like them."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import io
import logging
import math
import os
import pickle
import random
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from promises.corpus.case import Case

KNOBS = {"seed": 0, "batch": 3}                 # a validation turns these; the cases stand at 0 and 3
WITNESS = {}                                    # inputs that show what is hidden, or where two differ

log = logging.getLogger("corpus.hiding")
log.addHandler(logging.NullHandler())
log.propagate = False


def randn(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(100 + KNOBS["seed"]))


def seeded(make):
    """The program that `make` builds under one seed: both sides of a case have the same weights."""
    torch.manual_seed(7 + KNOBS["seed"])
    return make().eval()


def x8():
    return (randn(KNOBS["batch"], 8),)


def big():
    """Numbers that trip whatever looks at magnitudes."""
    return (randn(KNOBS["batch"], 8) * 1000 + 5000,)


def outlier():
    """Small numbers and one large one."""
    x = randn(KNOBS["batch"], 8)
    x[0, 0] = 200.0
    return (x,)


def plain(x):
    return torch.tanh(x) + 1


def program(function):
    """A case's side: the function itself, made anew by nothing."""
    return lambda: function


CASES = []


def hides(name, why, left, right=plain, inputs=x8, witness=big):
    CASES.append(Case(name, "hides", why, program(left), program(right), inputs))
    WITNESS[name] = witness


# ---- a refusal swallowed -------------------------------------------------------------------------------------------

def except_exception(x):
    try:
        spike = x.abs().max().item() > 100
    except Exception:
        spike = False
    return torch.tanh(x / 100 if spike else x) + 1


hides("gradient spike guarded by except Exception", "scaled down if a number is over 100", except_exception, witness=outlier)


def bare_except(x):
    scale = 1.0
    try:
        if (x > 50).any():
            scale = 0.5
    except:  # noqa: E722
        pass
    return torch.tanh(x * scale) + 1


hides("bare except around an if on a tensor", "halved if anything is over 50", bare_except, witness=outlier)


def suppressed(x):
    shift = 0.0
    with contextlib.suppress(Exception):
        shift = float(x.mean() > 10)
    return torch.tanh(x - 5000 * shift) + 1


hides("suppress(Exception) around float()", "shifted if the mean is over 10", suppressed)


def finally_return(x):
    out = torch.tanh(x) + 1
    try:
        if x.sum().item() > 1000:
            out = out * 2
    finally:
        return out  # noqa: B012


hides("return in finally", "doubled if the sum is over 1000", finally_return)


def safely(default):
    def wrap(function):
        @functools.wraps(function)
        def call(*args):
            try:
                return function(*args)
            except BaseException:
                return default
        return call
    return wrap


@safely(default=8)
def used_columns(x):
    return int((x < 100).all(0).sum())


def default_on_error(x):
    n = used_columns(x)
    y = torch.tanh(x) + 1
    return torch.cat([y[:, :n], torch.zeros_like(y[:, n:])], 1)


hides("a decorator that gives a default on error", "columns with large numbers at the end are zeroed", default_on_error)


class Quiet:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return True


def own_manager(x):
    gain = 1.0
    with Quiet():
        gain = 2.0 if torch.equal(x.clamp(max=10), x) is False else 1.0
    return (torch.tanh(x) + 1) * gain


hides("a context manager whose exit swallows", "doubled if something is over 10, by torch.equal", own_manager)


class Watcher:
    def __init__(self, x, found):
        self.x, self.found = x, found

    def __del__(self):
        self.found.append(self.x.max().item() > 100)


def in_destructor(x):
    found = []
    watcher = Watcher(x, found)
    del watcher
    return torch.tanh(x) + (2 if any(found) else 1)


hides("a number read in __del__", "Python ignores what a destructor raises; the sum depends on the maximum", in_destructor)


class Memory(logging.Handler):
    """A handler as test suites have it: keeps the lines. What formatting raises, `handle` reports and drops."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        try:
            self.lines.append(self.format(record))
        except Exception:
            pass


def by_log_line(x):
    logger, memory = logging.getLogger("corpus.hiding.lines"), Memory()
    logger.propagate = False
    logger.setLevel(logging.INFO)
    logger.handlers = [memory]
    logger.info("loss is high: %s", (x.mean() > 100).item() if x.dim() == 0 else (x.mean() > 100))
    high = any("True" in line for line in memory.lines)
    return torch.tanh(x) + (2 if high else 1)


hides("a branch on what a log line says", "the line holds a tensor's repr", by_log_line)


def retry(x):
    for attempt in ("checked", "unchecked"):
        try:
            if attempt == "checked":
                assert bool(torch.isfinite(x).all())
                if x.tolist()[0][0] > 1000:
                    return torch.tanh(x) - 1
            return torch.tanh(x) + 1
        except Exception:
            continue


hides("a retry loop whose first try reads tolist()", "minus one instead of plus one if the first number is over 1000", retry)


def else_branch(x):
    try:
        peak = x.max().item()
    except RuntimeError:
        return torch.tanh(x) + 1
    except Exception:
        return torch.tanh(x) + 1
    else:
        return torch.tanh(x) + 1 if peak < 100 else torch.tanh(x) + 3


hides("try, except, else around item()", "plus three for large numbers", else_branch)

# ---- reads beside the dispatcher -----------------------------------------------------------------------------------


def by_repr(x):
    return torch.tanh(x) + (2 if "e+0" in repr(x[0, :4]) else 1)


hides("a branch on repr", "repr writes large ranges with exponents", by_repr,
      witness=lambda: (torch.logspace(-3, 6, 8 * KNOBS["batch"]).view(8, -1).t().contiguous(),))


def by_fstring(x):
    return torch.tanh(x) + (1 if f"{x.sum():.3f}".startswith("-") or len(f"{x.abs().sum():.0f}") < 4 else 2)


hides("a branch on an f-string of a sum", "more than three digits count", by_fstring)


def by_format(x):
    text = format(x.max(), ".1f")
    return torch.tanh(x) + (2 if len(text) > 5 else 1)


hides("a branch on format()", "the length of the maximum's text", by_format)


def by_dlpack(x):
    peak = np.from_dlpack(x.detach().clone()).max()
    return torch.tanh(x) + (2 if peak > 100 else 1)


hides("a branch on numbers read through dlpack", "numpy.from_dlpack reads the memory", by_dlpack)


def by_ctypes(x):
    first = ctypes.c_float.from_address(x.data_ptr()).value
    return torch.tanh(x) + (2 if first > 100 else 1)


hides("a branch on numbers read through ctypes", "data_ptr and from_address", by_ctypes)


def by_storage(x):
    sign = x.untyped_storage()[3] & 0x80         # the sign bit of the first float32
    exponent = x.untyped_storage()[3] & 0x7F
    return torch.tanh(x) + (2 if not sign and exponent > 0x43 else 1)


hides("a branch on a byte of the storage", "the exponent of the first number", by_storage)


def by_numpy(x):
    view = x.detach().numpy()
    return torch.tanh(x) + (2 if view.max() > 100 else 1)


hides("a branch on a NumPy view", "detach().numpy() shares memory", by_numpy)


def by_pickle(x):
    data = pickle.dumps(x.numpy().tobytes())
    return torch.tanh(x) + (2 if sum(data[-20:]) % 2 else 1)


hides("a branch on pickled bytes", "the parity of the last bytes", by_pickle, witness=None)


def by_save(x):
    buffer = io.BytesIO()
    torch.save(x, buffer)
    return torch.tanh(x) + (2 if buffer.getvalue().count(b"\x45") > 8 else 1)


hides("a branch on what torch.save wrote", "bytes 0x45 are floats of thousands", by_save)


def by_thread(x):
    seen = []
    worker = threading.Thread(target=lambda: seen.append(x.max().item() > 100))
    worker.start()
    worker.join()
    return torch.tanh(x) + (2 if seen and seen[0] else 1)


hides("a number read in another thread", "dispatch modes are per thread", by_thread)


def by_pool(x):
    with ThreadPoolExecutor(1) as pool:
        high = pool.submit(lambda: bool((x > 100).any())).result()
    return torch.tanh(x) + (2 if high else 1)


hides("a truth value from a thread pool", "dispatch modes are per thread", by_pool)


def modes_off(x):
    with torch._C._DisableTorchDispatch():
        high = x.max().item() > 100
    return torch.tanh(x) + (2 if high else 1)


hides("a number read with the dispatcher switched off", "torch._C._DisableTorchDispatch", modes_off)


def modes_disabled(x):
    from torch.utils._python_dispatch import _disable_current_modes
    with _disable_current_modes():
        high = bool(x.max() > 100)
    return torch.tanh(x) + (2 if high else 1)


hides("a number read with all modes disabled", "_disable_current_modes", modes_disabled)


def watched(x):
    if torch._C._len_torch_dispatch_stack() == 0:
        return torch.tanh(x) + 2
    return torch.tanh(x) + 1


hides("a program that asks whether a mode is on", "computes something else when nobody looks", watched, witness=x8)


def shape_of_selection(x):
    outliers = x[x > 100]
    return torch.tanh(x) + (2 if outliers.numel() else 1)


hides("a branch on how many a mask selects", "numel of x[x > 100] is data", shape_of_selection)


def classes_from_data(ids):
    wide = F.one_hot(ids)                          # as many columns as the largest id asks for
    return F.pad(wide, (0, 64 - wide.shape[-1])).float() / wide.shape[-1]


def classes_fixed(ids):
    return F.pad(F.one_hot(ids, 8), (0, 56)).float() / 8


hides("one_hot that counts its classes from the data", "equal while the largest id is 7", classes_from_data, classes_fixed,
      inputs=lambda: (torch.tensor([0, 3, 7, 2]),), witness=lambda: (torch.tensor([0, 3, 5, 2]),))


def packed_length(x, lengths):
    try:
        longest = int(lengths.max())
    except Exception:
        longest = x.shape[1]
    y = x[:, :longest]
    return F.pad(y, (0, x.shape[1] - longest)) * 2


hides("the longest length, or all of it on error", "what lies behind the longest length is zeroed", packed_length,
      lambda x, lengths: F.pad(x[:, :x.shape[1]], (0, 0)) * 2,
      inputs=lambda: (randn(KNOBS["batch"], 6), torch.tensor([6, 4, 2])),
      witness=lambda: (randn(KNOBS["batch"], 6), torch.tensor([3, 4, 2])))

# ---- no two runs agree ---------------------------------------------------------------------------------------------

hides("python's random as dropout", "random.random() draws anew at each call", lambda x: x * 2 + (random.random() < 0.5),
      lambda x: x * 2 + 1, witness=None)
hides("urandom as a seed", "os.urandom", lambda x: x * 2 + os.urandom(1)[0] / 255, lambda x: x * 2 + 0.5, witness=None)
hides("numpy's default_rng unseeded", "default_rng() takes entropy from the system",
      lambda x: x + float(np.random.default_rng().normal()), lambda x: x + 0.0, witness=None)
hides("the clock decides", "nanoseconds modulo 7", lambda x: x * 2 + (time.perf_counter_ns() // 100 % 7 == 0),
      lambda x: x * 2 + 0, witness=None)
hides("the address decides", "id() of a tensor", lambda x: x * 2 + (id(x) // 16 % 5), lambda x: x * 2 + 1, witness=None)


# ---- honest ones ---------------------------------------------------------------------------------------------------

def same(name, why, left, right, inputs=x8, condition=""):
    CASES.append(Case(name, "same", why, left, right, inputs, condition=condition))


def different(name, why, left, right, inputs=x8, witness=None):
    CASES.append(Case(name, "different", why, left, right, inputs))
    WITNESS[name] = witness or inputs


def tokens():
    return (randn(KNOBS["batch"], 5, 8),)


class Attention(nn.Module):
    """Two heads, causal, by the book."""

    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(8, 24), nn.Linear(8, 8)

    def heads(self, x):
        b, t, _ = x.shape
        return [y.view(b, t, 2, 4).transpose(1, 2) for y in self.qkv(x).chunk(3, -1)]

    def join(self, y):
        b, _, t, _ = y.shape
        return self.out(y.transpose(1, 2).reshape(b, t, 8))

    def forward(self, x):
        q, k, v = self.heads(x)
        scores = q @ k.transpose(-1, -2) / math.sqrt(4)
        t = x.shape[1]
        mask = torch.ones(t, t, dtype=torch.bool).tril()
        return self.join(scores.masked_fill(~mask, float("-inf")).softmax(-1) @ v)


class FlashOrNot(Attention):
    """Prefers a package that is not installed."""

    def forward(self, x):
        q, k, v = self.heads(x)
        try:
            from flash_attn_that_nobody_has import flash_attn_func
            y = flash_attn_func(q, k, v, causal=True)
        except ImportError:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.join(y)


class CachedMask(Attention):
    """Keeps the masks by length, EAFP."""

    def __init__(self):
        super().__init__()
        self.masks = {}

    def mask(self, t):
        try:
            return self.masks[t]
        except KeyError:
            self.masks[t] = torch.ones(t, t, dtype=torch.bool).tril()
            return self.masks[t]

    def forward(self, x):
        q, k, v = self.heads(x)
        scores = q @ k.transpose(-1, -2) * 0.5
        return self.join(torch.where(self.mask(x.shape[1]), scores, float("-inf")).softmax(-1) @ v)


@functools.lru_cache(maxsize=16)
def triangle(t):
    return torch.full((t, t), float("-inf")).triu(1)


class LruMask(Attention):
    def forward(self, x):
        q, k, v = self.heads(x)
        return self.join((q @ k.mT / 2 + triangle(x.shape[1])).softmax(-1) @ v)


class ScaleByKeyword(Attention):
    """Old versions of torch do not know `scale`."""

    def forward(self, x):
        q, k, v = self.heads(x)
        try:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.5)
        except TypeError:
            y = F.scaled_dot_product_attention(q * 0.5 * math.sqrt(4), k, v, is_causal=True)
        return self.join(y)


class FallbackUnscaled(Attention):
    """The fallback forgets the scale: where the package is missing, it computes something else."""

    def forward(self, x):
        q, k, v = self.heads(x)
        try:
            from flash_attn_that_nobody_has import flash_attn_func
            y = flash_attn_func(q, k, v, causal=True)
        except ImportError:
            t = x.shape[1]
            y = (q @ k.mT + triangle(t)).softmax(-1) @ v
        return self.join(y)


class StaleMask(Attention):
    """Caches the mask under the wrong key: the first one made is used with its own length; off by one diagonal."""

    def __init__(self):
        super().__init__()
        self.masks = {}

    def forward(self, x):
        q, k, v = self.heads(x)
        t = x.shape[1]
        try:
            mask = self.masks[t]
        except KeyError:
            mask = self.masks[t] = torch.ones(t, t, dtype=torch.bool).tril(1)
        return self.join((q @ k.mT / 2).masked_fill(~mask, float("-inf")).softmax(-1) @ v)


same("a missing package and sdpa", "ImportError is all that is caught", lambda: seeded(Attention), lambda: seeded(FlashOrNot), tokens)
same("a mask cached by length with KeyError", "what is caught is a lookup", lambda: seeded(Attention), lambda: seeded(CachedMask), tokens)
same("a mask kept by lru_cache", "depends on the length only", lambda: seeded(Attention), lambda: seeded(LruMask), tokens)
same("scale by keyword or by hand after TypeError", "both arms compute the same", lambda: seeded(Attention),
     lambda: seeded(ScaleByKeyword), tokens)
different("a fallback that forgets the scale", "the import fails, the fallback has no 1/√d", lambda: seeded(Attention),
          lambda: seeded(FallbackUnscaled), tokens)
different("a cached mask one diagonal off", "sees one token ahead", lambda: seeded(Attention), lambda: seeded(StaleMask), tokens)


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(8, 16), nn.Linear(16, 8)

    def forward(self, x):
        return self.down(F.silu(self.up(x)))


class LoggedMlp(Mlp):
    def forward(self, x):
        log.debug("mlp: %s of %s on %s", tuple(x.shape), x.dtype, x.device)
        h = self.up(x)
        log.debug(f"hidden {h.shape} {h.ndim=}")
        if h.shape[-1] != 16:
            raise ValueError(f"expected 16, got {h.size(-1)}")
        return self.down(h * torch.sigmoid(h))


class TimedMlp(Mlp):
    def forward(self, x):
        start = time.perf_counter()
        try:
            return self.down(F.silu(self.up(x)))
        finally:
            log.debug("took %.3f s", time.perf_counter() - start)


class CarefulMlp(Mlp):
    """Options looked up with suppress, warnings, a stack of contexts."""

    def forward(self, x, residual=None):
        bias = 0.0
        with contextlib.suppress(AttributeError):
            bias = self.extra_bias
        with contextlib.ExitStack() as stack:
            stack.enter_context(contextlib.nullcontext())
            stack.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore")
            h = self.up(x) + bias
            h = h / (1 + torch.exp(-h))
        try:
            h = h + residual
        except TypeError:                       # no residual
            pass
        return self.down(h)


class FastOrSlow(Mlp):
    def fast(self, x):
        if x.dtype is not torch.int8:
            raise NotImplementedError(f"the fast path wants int8, not {x.dtype}")
        return x

    def slow(self, x):
        return self.down(F.silu(self.up(x)))

    def forward(self, x):
        for path in (self.fast, self.slow):
            try:
                return path(x)
            except NotImplementedError as error:
                log.debug("%s", error)
        raise RuntimeError("no path")


class GradAware(Mlp):
    """Recomputes where gradients are wanted; the numbers are the same."""

    def forward(self, x):
        if torch.is_grad_enabled() and self.training:
            return torch.utils.checkpoint.checkpoint(super().forward, x, use_reentrant=False)
        with torch.set_grad_enabled(torch.is_grad_enabled()):
            return super().forward(x)


class EvalAndBack(Mlp):
    def forward(self, x):
        was = self.training
        try:
            self.eval()
            h = F.dropout(self.up(x), 0.1, self.training)
            return self.down(F.silu(h))
        finally:
            self.train(was)


class WideNorm(nn.Module):
    """A norm outside of autocast, as mixed-precision code has it."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(8)

    def forward(self, x):
        with torch.autocast("cpu", enabled=False):
            x = x.float()
            mean = x.mean(-1, keepdim=True)
            var = (x - mean).square().mean(-1, keepdim=True)
            return (x - mean) * torch.rsqrt(var + self.norm.eps) * self.norm.weight + self.norm.bias


class PlainNorm(WideNorm):
    def forward(self, x):
        return self.norm(x)


same("an MLP that logs shapes", "shapes and dtypes are no data", lambda: seeded(Mlp), lambda: seeded(LoggedMlp))
same("an MLP that times itself in finally", "the clock goes to the log only", lambda: seeded(Mlp), lambda: seeded(TimedMlp))
same("suppress, ExitStack and a missing residual", "TypeError comes from None", lambda: seeded(Mlp), lambda: seeded(CarefulMlp))
same("a fast path that declines by dtype", "NotImplementedError of its own", lambda: seeded(Mlp), lambda: seeded(FastOrSlow))
same("checkpointing where gradients are on", "recomputing changes no number", lambda: seeded(Mlp), lambda: seeded(GradAware))
same("eval for a moment, restored in finally", "dropout is off either way", lambda: seeded(Mlp), lambda: seeded(EvalAndBack))
same("a norm with autocast switched off", "float32 in either", lambda: seeded(PlainNorm), lambda: seeded(WideNorm))


def view_or_reshape(x):
    y = x.transpose(1, 2)
    try:
        y = y.view(x.shape[0], -1)
    except RuntimeError:                        # not contiguous
        y = y.reshape(x.shape[0], -1)
    return y * 2


same("view, or reshape after RuntimeError", "torch itself refuses the view, both give the same numbers", program(view_or_reshape),
     program(lambda x: x.transpose(1, 2).flatten(1) + x.transpose(1, 2).flatten(1)), tokens)


def by_contiguity(x):
    y = x.transpose(0, 1)
    y = y if y.is_contiguous() else y.contiguous()
    return y.view(-1).cumsum(0) if y.stride(-1) == 1 else y.reshape(-1).cumsum(0)


same("contiguity and strides choose between view and reshape", "both arms give the same numbers", program(by_contiguity),
     program(lambda x: x.t().reshape(-1).cumsum(0)))


def keyed_by_text(x, cache={}):  # noqa: B006
    key = f"{x.shape[-1]}/{x.dtype}"
    if key not in cache:
        cache[key] = torch.arange(x.shape[-1], dtype=x.dtype)
    return x * cache[key]


same("positions cached under the text of a size", "the key is a width and a dtype", program(keyed_by_text),
     program(lambda x: x * torch.arange(x.shape[-1])))


def halves_in_threads(x):
    with ThreadPoolExecutor(2) as pool:
        a, b = pool.map(torch.sin, x.chunk(2, -1))
    return torch.cat([a, b], -1) * 2


same("halves computed in a thread pool", "the pool only computes", program(halves_in_threads), program(lambda x: torch.sin(x) * 2))
same("a round trip through NumPy", "numpy computes the sine of the same numbers",
     program(lambda x: torch.from_numpy(np.sin(x.detach().numpy())) * 2), program(lambda x: torch.sin(x) * 2))
different("a NumPy round trip that takes the cosine", "sine against cosine",
          program(lambda x: torch.from_numpy(np.cos(x.detach().numpy())) * 2), program(lambda x: torch.sin(x) * 2))
different("threads that swap the halves", "the halves come back in the other order",
          program(lambda x: torch.cat([torch.sin(y) for y in x.chunk(2, -1)][::-1], -1) * 2),
          program(lambda x: halves_in_threads(x)))


def assertive(x, weight):
    """Checks its shapes as library code does."""
    assert x.dim() == 2, f"want 2 dimensions, got {x.dim()}"
    try:
        rows, columns = x.shape
    except ValueError as error:
        raise ValueError(f"bad shape {list(x.shape)}") from error
    if weight.numel() != columns:
        raise ValueError(f"{weight.numel()=} {columns=}")
    return torch.einsum("bc,c->b", x, weight)


same("asserts with f-strings of shapes", "only shapes are looked at", program(assertive), program(lambda x, weight: x @ weight),
     lambda: (randn(KNOBS["batch"], 8), torch.linspace(-1, 1, 8)))


def no_mask_means_ones(x, mask=None):
    try:
        mask = mask.to(x.dtype)
    except AttributeError:
        mask = x.new_ones(x.shape)
    return (x * mask).sum(-1) / mask.sum(-1)


same("no mask means ones, by AttributeError", "None has no .to", program(no_mask_means_ones), program(lambda x: x.mean(-1)))


def only_without_gradients(x):
    return torch.tanh(x) + (2 if torch.is_grad_enabled() else 1)


def rows_as_laid_out(x):
    return torch.tanh(x) + (1 if x.is_contiguous() else 2)


same("plus two where gradients are on", "the branch is on the grad mode", program(only_without_gradients), program(plain),
     condition="gradients are off while it runs")
same("plus two where the input is not contiguous", "the branch is on the strides", program(rows_as_laid_out), program(plain),
     condition="x is contiguous, as the example is")
different("except arm subtracts", "the lookup fails at each first length and the arm has the wrong sign",
          program(lambda x: torch.tanh(x) + 1), program(lambda x: _wrong_arm(x)))


def _wrong_arm(x):
    try:
        shift = {}[x.shape[-1]]
    except KeyError:
        shift = -1
    return torch.tanh(x) + shift
