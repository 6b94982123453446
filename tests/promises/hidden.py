"""Programs that hide something: each takes a number or a branch from where a recorder might not look.

On the example, which is positive, most compute what `plain` computes; on other inputs, or another time, they do not.
All are to be refused, and where a line ends in `# here` it is named.
"""

import asyncio
import contextlib
import copy
import ctypes
import datetime
import io
import logging
import multiprocessing.pool
import os
import pickle
import queue
import random
import secrets
import sys
import threading
import time
import uuid
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy
import torch
from torch import nn
from torch.utils._python_dispatch import _disable_current_modes

HIDING = []


def hides(program):
    HIDING.append(program)
    return program


def example():
    """All positive, as where a branch on a sign was never taken."""
    return (torch.rand(3, 4, generator=torch.Generator().manual_seed(0)) + 0.1,)


def plain(x):
    return x * 2


def branch(positive, x):
    return x * 2 if positive else x * 3


# ------------------------------------------------------------------------------------------ refusals that are swallowed


@hides
def caught(x):
    try:
        positive = bool(x.sum() > 0)  # here
    except Exception:
        positive = True
    return branch(positive, x)


@hides
def caught_bare(x):
    try:
        positive = x.sum().item() > 0  # here
    except:  # noqa: E722
        positive = True
    return branch(positive, x)


@hides
def suppressed(x):
    positive = True
    with contextlib.suppress(Exception):
        positive = float(x.sum()) > 0  # here
    return branch(positive, x)


@hides
def returned_finally(x):
    try:
        return branch(x.sum().item() > 0, x)  # here
    finally:
        return x * 2  # noqa: B012, SIM107


class Lazy:
    def __init__(self, x):
        self.x = x

    @property
    def positive(self):
        try:
            return self.x.sum().item() > 0  # here
        except Exception:
            raise AttributeError("positive") from None


@hides
def default_of_getattr(x):
    return branch(getattr(Lazy(x), "positive", True), x)


def signs(x):
    try:
        yield True
    finally:
        x.sum().item()  # here


@hides
def closed_generator(x):
    made = signs(x)
    positive = next(made)
    with contextlib.suppress(Exception):
        made.close()
    return branch(positive, x)


class Finalised:
    def __init__(self, x, box):
        self.x, self.box = x, box

    def __del__(self):
        self.box.append(self.x.sum().item() > 0)  # here


@hides
def finaliser(x):
    box = []
    held = Finalised(x, box)
    del held
    return branch(box[0] if box else True, x)


@hides
def warned(x):
    with warnings.catch_warnings(record=True):
        try:
            positive = x.sum().tolist() > 0  # here
        except RuntimeError:
            positive = True
        except Exception as error:
            warnings.warn(str(error), stacklevel=1)
            positive = True
    return branch(positive, x)


@hides
def retried(x):
    for attempt in (lambda: x.sum().item() > 0, lambda: True):  # here
        try:
            return branch(attempt(), x)
        except Exception:
            continue


class Quiet(contextlib.AbstractContextManager):
    def __exit__(self, *error):
        return True


@hides
def swallowed_on_exit(x):
    positive = True
    with Quiet():
        positive = x.max().item() > 0  # here
    return branch(positive, x)


@hides
def sorted_by_value(x):
    try:
        rows = sorted(x, key=lambda row: row.sum().item(), reverse=True)  # here
    except Exception:
        rows = list(x)
    return torch.stack(rows) * 2 if rows is None else x * 2


@hides
def contained(x):
    try:
        found = 0.0 in x  # here
    except Exception:
        found = False
    return branch(not found, x)


@hides
def compared_in_a_list(x):
    try:
        found = [x.sum() > 0].index(True) == 0  # here
    except Exception:
        found = True
    return branch(found, x)


@hides
def asserted(x):
    try:
        assert x.sum() > 0  # here
        return x * 2
    except AssertionError:
        return x * 3
    except Exception:
        return x * 2


@hides
def refused_otherwise(x):
    try:
        return x * 2 + 0 * torch.rand(3, 4)  # here
    except Exception:
        return x * 2


@hides
def failed_on_values(x):
    try:
        torch.linalg.cholesky(torch.diag(x[0]))  # here
        return x * 2
    except RuntimeError:
        return x * 3


@hides
def out_of_range(x):
    try:
        torch.embedding(torch.ones(9, 2), x[0].long())  # here
        return x * 2
    except IndexError:
        return x * 3


@hides
def missed_the_table(x):
    try:
        torch.embedding(torch.ones(1, 2), x[0].long() + 1)  # here
        return x * 3
    except IndexError:
        return x * 2


class CaughtInside(nn.Module):
    def forward(self, x):
        with contextlib.suppress(Exception):
            return branch(x.mean().item() > 0, x)  # here
        return x * 2


HIDING.append(CaughtInside())


@hides
def awaited(x):
    async def positive():
        return x.sum().item() > 0  # here

    try:
        return branch(asyncio.run(positive()), x)
    except Exception:
        return x * 2


# ---------------------------------------------------------------------------------------- values that leave as no value


@hides
def text(x):
    return branch("-" not in str(x), x)  # here


@hides
def representation(x):
    return branch("-" not in repr(x.sum()), x)  # here


@hides
def f_string(x):
    return branch("-" not in f"{x}", x)  # here


@hides
def formatted(x):
    return branch(not "{:.2f}".format(x.sum()).startswith("-"), x)  # noqa: UP032  # here


@hides
def percent(x):
    return branch("-" not in "%s" % x, x)  # noqa: UP031  # here


@hides
def printed(x):
    out = io.StringIO()
    print(x, file=out)  # here
    return branch("-" not in out.getvalue(), x)


@hides
def logged(x):
    out = io.StringIO()
    log = logging.Logger("hidden")
    log.addHandler(logging.StreamHandler(out))
    log.warning("%s", x)  # here
    return branch("-" not in out.getvalue(), x)


@hides
def dlpack(x):
    return branch(numpy.from_dlpack(x).sum() > 0, x)  # here


@hides
def capsule(x):
    return branch(torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(x)).sum() > 0, x)  # here


@hides
def unseen_capsule(x):
    other = torch.utils.dlpack.to_dlpack(x)
    with torch._C._DisableTorchDispatch():  # here
        return branch(bool(torch.utils.dlpack.from_dlpack(other).sum() > 0), x)


@hides
def address(x):
    first = ctypes.cast(x.data_ptr(), ctypes.POINTER(ctypes.c_float))  # here
    return branch(first[0] + first[1] + first[2] > 0, x)


@hides
def storage_list(x):
    return branch(sum(x.untyped_storage().tolist()) > 0, x)  # here


@hides
def typed_storage(x):
    return branch(sum(list(x.storage())) > 0, x)  # here


@hides
def storage_bytes(x):
    return branch(not bytes(x.untyped_storage())[3] & 128, x)  # here


@hides
def through_numpy(x):
    return branch(x.numpy().sum() > 0, x)  # here


@hides
def base_class(x):
    return branch(torch._C.TensorBase.numpy(x).sum() > 0, x)  # here


@hides
def ufunc(x):
    return branch(numpy.add.reduce(x, axis=None) > 0, x)  # here


@hides
def asked_as_array(x):
    return branch(numpy.asarray(x)[0, 0] > 0, x)  # here


@hides
def pickled(x):
    return branch(b"\xbf" not in pickle.dumps(x), x)  # here


@hides
def saved(x):
    out = io.BytesIO()
    torch.save(x, out)  # here
    return branch(b"\xbf" not in out.getvalue(), x)


@hides
def copied(x):
    return branch(copy.copy(x).sum().item() > 0, x)  # here


@hides
def reduced(x):
    return branch(sum(x.__reduce_ex__(2)[1][0].tolist()) > 0, x)  # here


@hides
def deep_copy(x):
    return copy.deepcopy(x) * (2 if bool(copy.deepcopy(x).sum() > 0) else 3)


@hides
def applied(x):
    seen = []
    x.clone().apply_(lambda v: seen.append(v) or v)  # here
    return branch(sum(seen) > 0, x)


@hides
def equal(x):
    return branch(torch.equal(x, x.abs()), x)  # here


@hides
def all_close(x):
    return branch(torch.allclose(x, x.abs()), x)  # here


@hides
def nonzero(x):
    return branch(not torch.is_nonzero((x < 0).any()), x)  # here


@hides
def counted(x):
    return branch(len((x < 0).nonzero()) == 0, x)  # here


@hides
def one_thread(x):
    box = []
    worker = threading.Thread(target=lambda: box.append(float(x.sum()) > 0))  # here
    worker.start()
    worker.join()
    return branch(box[0] if box else True, x)


@hides
def pool(x):
    with ThreadPoolExecutor(1) as threads:
        return branch(threads.submit(lambda: bool((x > 0).all())).result(), x)  # here


POOL = ThreadPoolExecutor(1)
POOL.submit(int).result()


@hides
def pool_of_before(x):
    return branch(POOL.submit(lambda: bool((x > 0).all())).result(), x)  # here


THREADS = multiprocessing.pool.ThreadPool(1)


@hides
def pool_of_multiprocessing(x):
    return branch(THREADS.apply(lambda: bool((x > 0).all())), x)  # here


QUEUE, ANSWERS = queue.Queue(), queue.Queue()


def serve():
    while True:
        ANSWERS.put(bool((QUEUE.get() > 0).all()))


threading.Thread(target=serve, daemon=True).start()


@hides
def thread_of_before(x):
    QUEUE.put(x)
    return branch(ANSWERS.get(), x)


@hides
def without_modes(x):
    with torch._C.DisableTorchFunction(), _disable_current_modes():  # here
        positive = float(x.sum()) > 0
    return branch(positive, x)


DISABLED = torch._C._DisableTorchDispatch
UNWATCHED = torch._C.DisableTorchFunction


@hides
def switch_under_another_name(x):
    with DISABLED(), UNWATCHED():
        positive = bool(x.sum() > 0)
    return branch(positive, x)


WEIGHT = nn.Parameter(torch.rand(4) + 0.5)
SEEN = WEIGHT.detach().numpy()


@hides
def numpy_view_of_a_weight(x):
    return branch(SEEN.sum() > 0, x) + 0 * WEIGHT


STORE = WEIGHT.detach().untyped_storage()


@hides
def storage_of_a_weight(x):
    return branch(STORE[3] < 128, x) + 0 * WEIGHT


class ViewInside(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(4) + 0.5)
        self.seen = {"weight": self.weight.detach().numpy()}

    def forward(self, x):
        return branch(self.seen["weight"].max() < 100, x) + 0 * self.weight


HIDING.append(ViewInside())


@torch.jit.script
def scripted(x):
    if bool(x.sum() > 0):
        return x * 2
    return x * 3


HIDING.append(scripted)


@hides
def scripted_and_caught(x):
    try:
        return scripted(x)  # here
    except Exception:
        return x * 2


@hides
def forked(x):
    child = os.fork()  # here
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return x * 2


@hides
def exits(x):
    sys.exit(0)  # here


@hides
def ends_the_process(x):
    os._exit(0)  # here


# ---------------------------------------------------------------------------------------------- chance, clock and state


@hides
def system_random(x):
    return x * (int.from_bytes(os.urandom(4), "big") / 2**32)


@hides
def generator(x):
    return x * float(numpy.random.default_rng().random())


@hides
def secret(x):
    return x * (secrets.randbelow(10**9) / 10**9)


@hides
def system_random_of_python(x):
    return x * random.SystemRandom().random()


@hides
def unique(x):
    return x * (uuid.uuid4().int / 2**128)


@hides
def clock(x):
    return x * (time.time() % 1)


@hides
def fine_clock(x):
    return x * (time.perf_counter_ns() % 1000)


@hides
def date(x):
    return x * (datetime.datetime.now().microsecond + 1)


@hides
def identity(x):
    return x * (id(object()) % 1000 + id([x]) % 977 + hash(object()) % 331)


@hides
def coin(x):
    return x * 2 if random.random() < 0.5 else x * 3


@hides
def coin_of_the_system(x):
    return x * 2 if os.urandom(1)[0] < 128 else x * 3


CALLS = []


DICE = numpy.random.default_rng(1)


@hides
def coin_of_a_generator(x):
    return x * 2 if DICE.integers(2) else x * 3


@hides
def counter(x):
    CALLS.append(1)
    return x * len(CALLS)

NOTEBOOK = numpy.zeros(12, dtype=numpy.float32)
WRITTEN = torch.from_numpy(NOTEBOOK)


@hides
def written_where_numpy_reads(x):
    torch.mul(x.flatten(), 1, out=WRITTEN)
    return branch(NOTEBOOK.max() < 1e9, x)


BYTES = bytearray(48)
IN_BYTES = torch.frombuffer(BYTES, dtype=torch.float32)


@hides
def written_where_bytes_are_read(x):
    IN_BYTES.copy_(x.flatten())
    return branch(BYTES[3] < 128, x)


# ------------------------------------------------------------------------------------ what only a second run can tell


@hides
def bounded_from_above(x):
    with DISABLED(), UNWATCHED():
        small = bool((x < 3).all())
    return x * 2 if small else x * 3  # here


@hides
def view_of_the_input(x):
    return x * 2 if memory_of(x)[0] > 0 else x * 3


def memory_of(x):
    """Through the address, by a name that nobody looks at."""
    return (ctypes.c_float * x.numel()).from_address(torch._C.TensorBase.data_ptr(x))  # here


LARGEST = []


def remember(module, given):
    with DISABLED(), UNWATCHED():
        LARGEST.append(float(given[0].abs().max()))


class Hooked(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Identity()
        self.inner.register_forward_pre_hook(remember)

    def forward(self, x):
        return self.inner(x) * (2 if LARGEST[-1] < 3 else 3)  # here


HIDING.append(Hooked())


class ZeroBias(nn.Module):
    """Leaves out a bias that is zero, and finds that out unseen."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        nn.init.zeros_(self.linear.bias)

    def forward(self, x):
        with DISABLED(), UNWATCHED():
            zero = bool((self.linear.bias == 0).all())
        return x @ self.linear.weight.t() if zero else self.linear(x) * 2


HIDING.append(ZeroBias())


class SameSign(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.rand(4) + 0.5)

    def forward(self, x):
        with DISABLED(), UNWATCHED():
            positive = bool((self.gain > 0).all())
        return x * (self.gain if positive else self.gain.abs())  # here


HIDING.append(SameSign())


@hides
def shifted_pattern(x):
    with DISABLED(), UNWATCHED():
        first = int(x.flatten().argmax())
    return x.roll(first, 1)
