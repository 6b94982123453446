"""Programs that look as if they hid something: exceptions that shapes decide, prints of shapes, logs, caches.

Each computes `x · 2` on a matrix of any size, and is to be proved equal to `plain`.
"""

import contextlib
import functools
import logging
import random
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy
import torch
from torch import nn

HONEST = []


def honest(program):
    HONEST.append(program)
    return program


def plain(x):
    return x * 2


@honest
def gradient_or_not(x):
    try:
        with torch.enable_grad():
            z = x.detach().requires_grad_()
            slope = torch.autograd.grad((z * z).sum(), z)[0]
        return slope
    except RuntimeError:
        return x * 3


@honest
def shapes_decide_an_exception(x):
    try:
        return x @ torch.ones(x.shape[1] + 1, 1)
    except RuntimeError:
        return x * 2


@honest
def missing_attribute(x):
    try:
        return x.no_such_method()
    except AttributeError:
        return x + x


@honest
def missing_key(x):
    table = {}
    with contextlib.suppress(KeyError):
        return table["gain"] * x
    return x * 2


@honest
def prints_shapes(x):
    print("in", x.shape, x.dtype, x.device)
    return x * 2


@honest
def text_of_shapes(x):
    label = f"{tuple(x.shape)} {x.dtype} {len(x)} {x.dim()}"
    return x * (2 if "float32" in label else 3)


@honest
def logs(x):
    log = logging.getLogger("honest")
    log.debug("shape %s", x.shape)
    log.info("at %s", time.time())
    return x * 2


@honest
def warns(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.warn("slow path", stacklevel=1)
    return x * 2


@functools.lru_cache(maxsize=8)
def table_of(n):
    return torch.full((n,), 2.0)


@honest
def cached_table(x):
    return x * table_of(x.shape[1])


class CachedMask(nn.Module):
    def __init__(self):
        super().__init__()
        self.masks = {}

    def forward(self, x):
        if x.shape not in self.masks:
            self.masks[x.shape] = torch.ones(x.shape, dtype=torch.bool)
        return torch.where(self.masks[x.shape], x * 2, x)


HONEST.append(CachedMask())


class LazyTable(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = None

    def forward(self, x):
        if self.table is None or self.table.shape[0] != x.shape[1]:
            self.table = torch.ones(x.shape[1]) * 2
        return x * self.table


HONEST.append(LazyTable())


@honest
def numpy_of_a_constant(x):
    return x * torch.from_numpy(numpy.full(3, 2.0, dtype=numpy.float32)).max()


@honest
def number_of_a_constant(x):
    return x * float(torch.ones(2).sum())


@honest
def text_of_a_constant(x):
    return x * float(str(torch.tensor(2.0))[7:-1])


@honest
def timed(x):
    start = time.perf_counter()
    y = x * 2
    logging.getLogger("honest").debug("%.3f s", time.perf_counter() - start)
    return y


@honest
def sampled_log(x):
    if random.random() < 0.01:
        logging.getLogger("honest").info("sampled")
    return x * 2


@honest
def own_seed(x):
    return x * (1 + round(random.Random(0).random() + 0.2))


@honest
def asks_for_gradients(x):
    y = x * 2 if torch.is_grad_enabled() else x + x
    return y.detach() if y.requires_grad else y


@honest
def asks_for_strides(x):
    return x * 2 if x.is_contiguous() else x.contiguous() * 2


@honest
def asks_whether_it_is_compiled(x):
    return x * 2 if not torch.compiler.is_compiling() else x + x


@honest
def thread_without_tensors(x):
    box = []
    worker = threading.Thread(target=lambda: box.append(x.shape[0]))
    worker.start()
    worker.join()
    return x * 2


@honest
def pool_without_tensors(x):
    with ThreadPoolExecutor(2) as threads:
        return x * sum(threads.map(int, ["1", "1"]))


@honest
def context_of_no_grad(x):
    with torch.no_grad(), torch.autocast("cpu", enabled=False):
        return x * 2


@honest
def out_buffer(x):
    out = torch.empty_like(x)
    torch.mul(x, 2, out=out)
    return out


@honest
def generator_and_finally(x):
    def rows():
        try:
            yield from x
        finally:
            sys.stderr.flush()

    return torch.stack([row * 2 for row in rows()])


class Counts(nn.Module):
    """Counts its calls, and tells nobody."""

    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x * 2


HONEST.append(Counts())


class KeepsALog(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(()))
        self.seen = []

    def forward(self, x):
        self.seen.append(tuple(x.shape))
        return x * 2 + 0 * self.weight


HONEST.append(KeepsALog())
