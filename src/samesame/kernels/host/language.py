"""Triton's language on the CPU: its interpreter, with every access to memory handed to an oracle.

Triton interprets a kernel as a Python function over numpy arrays. What it leaves out is added here: helper functions
that are compiled elsewhere, functions of CUDA's library, `and`, `or` and `not` of tensors, dtypes as constants.
Nothing of it stays when the interpreter is left, neither in Triton's modules nor in the kernel's.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType, FunctionType
from typing import Any, Protocol

import numpy as np
import torch
import triton.compiler.code_generator  # noqa: F401  (binds Triton's language before the interpreter stands in for it)
import triton.language as tl
from triton.language.extra import libdevice
from triton.language.extra.cuda import libdevice as cuda_libdevice
from triton.runtime import interpreter
from triton.runtime.interpreter import TensorHandle, interpreter_builder, interpreter_semantic

from samesame.evidence import Refused
from samesame.graph import Origin
from samesame.kernels.host.bfloat import rounded_bfloats
from samesame.kernels.host.device import JITFunction, replaced
from samesame.kernels.host.mended import mended
from samesame.programs.alone import alone
from samesame.programs.origins import is_users, place

GARBAGE = 0x5EADBEEF                        # what undefined integers hold, cut to their width


class Oracle(Protocol):
    """What the interpreter asks for: what `blank` says of undefined values, the addresses behind pointers with the
    mask of those that may be touched, and a kernel as a function."""

    blank: bool

    def access(
        self,
        pointers: np.ndarray,
        mask: np.ndarray,
        what: str,
        width: int,
        values: np.ndarray | None = None,
        kind: int = 0,
    ) -> tuple[np.ndarray, np.ndarray]: ...

    def function(self, jit: Any) -> Callable[..., Any]: ...


def undefined(dtype: torch.dtype) -> Any:
    """The value that stands for an undefined one."""
    if dtype.is_floating_point or dtype.is_complex:
        return float("nan")
    if dtype == torch.bool:
        return True
    return GARBAGE & torch.iinfo(dtype).max


def kernels_line() -> Origin:
    """The line of the kernel that runs now."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if is_users(frame.f_code.co_filename) and not name.startswith(("triton.", "numpy.")):
            return place(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
        frame = frame.f_back
    return Origin()


@contextmanager
def interpreted(oracle: Oracle) -> Iterator[None]:
    """Triton's language means its interpreter; its accesses go through the oracle."""
    builder = interpreter_builder
    with alone(), ExitStack() as stack:
        scope = interpreter._patch_lang(FunctionType((lambda: None).__code__, {"tl": tl, "core": tl.core}))
        stack.callback(scope.restore)
        for name, access in (("create_masked_load", load), ("create_masked_store", store),
                             ("create_atomic_rmw", rmw), ("create_atomic_cas", cas)):
            replaced(stack, builder, name, access(oracle, getattr(builder, name)))
        replaced(stack, builder, "create_extern_elementwise", extern)
        mended(stack)
        replaced(stack, builder, "binary_op", compared(builder.binary_op))
        replaced(stack, builder, "create_assume", lambda condition: None)      # a hint, of which a run takes no heed
        rounded_bfloats(stack)
        for name, function in vars(cuda_libdevice).items():
            if getattr(function, "__triton_builtin__", False):
                with_semantic = semantic(function)
                replaced(stack, cuda_libdevice, name, with_semantic)
                replaced(stack, libdevice, name, with_semantic)
        def inner(self: Any, *args: Any, **keywords: Any) -> Any:
            args = tuple(map(constant_dtype, args))
            return oracle.function(self)(*args, **{name: constant_dtype(value) for name, value in keywords.items()})

        replaced(stack, JITFunction, "__call__", inner)
        replaced(stack, JITFunction, "__get__", lambda self, thing, owner=None: self if thing is None else
                 lambda *a, **k: inner(self, thing, *a, **k))
        yield


def compared(original: Callable[..., Any]) -> Callable[..., Any]:
    """A comparison of numbers gives truth values; Triton's leaves them the type of the numbers."""
    def operation(left: Any, right: Any, op: Any) -> Any:
        found = original(left, right, op)
        return TensorHandle(found.data, tl.int1) if found.data.dtype == np.bool_ else found

    return operation


def constant_dtype(value: Any) -> Any:
    """A dtype is a constant to the function that it is given to."""
    return tl.constexpr(value) if isinstance(value, tl.dtype) else value


def semantic(function: Any) -> Callable[..., Any]:
    """A builtin of Triton's language as the interpreter calls it."""
    def called(*args: Any, **keywords: Any) -> Any:
        return function(*args, **{**keywords, "_semantic": interpreter_semantic})

    called.__name__, called.__module__ = function.__name__, function.__module__
    return called


class Logic(interpreter.ASTTransformer):                       # type: ignore[misc]
    """Triton's rewriting, and `and`, `or` and `not` of tensors, which mean every element."""

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """Every value that gets a name is a tensor. Triton's own looks into the value from 3.9 on; a second look would
        rewrite what the first one has made."""
        self.generic_visit(node)
        tensor = ast.Attribute(value=ast.Name(id="interpreter_semantic", ctx=ast.Load()), attr="to_tensor",
                               ctx=ast.Load())
        node.value = ast.Call(func=tensor, args=[node.value, ast.Constant(value=False)], keywords=[])
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        name = "_both" if isinstance(node.op, ast.And) else "_either"
        nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
        parts: list[ast.expr] = [ast.Lambda(args=nothing, body=value) for value in node.values]
        return ast.copy_location(ast.Call(func=ast.Name(id=name, ctx=ast.Load()), args=parts, keywords=[]), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Not):
            return node
        called = ast.Call(func=ast.Name(id="_opposite", ctx=ast.Load()), args=[node.operand], keywords=[])
        return ast.copy_location(called, node)


def both(*parts: Callable[[], Any]) -> Any:
    """`and`: of numbers as Python has it, of tensors for every element."""
    found = parts[0]()
    for part in parts[1:]:
        if not isinstance(found, tl.tensor) and not found:
            return found
        other = part()
        tensors = isinstance(found, tl.tensor) or isinstance(other, tl.tensor)
        found = interpreter_semantic.logical_and(*map(as_tensor, (found, other))) if tensors else other
    return found


def either(*parts: Callable[[], Any]) -> Any:
    """`or`, likewise."""
    found = parts[0]()
    for part in parts[1:]:
        if not isinstance(found, tl.tensor) and found:
            return found
        other = part()
        tensors = isinstance(found, tl.tensor) or isinstance(other, tl.tensor)
        found = interpreter_semantic.logical_or(*map(as_tensor, (found, other))) if tensors else other
    return found


def opposite(value: Any) -> Any:
    """`not`, likewise."""
    return interpreter_semantic.not_(value) if isinstance(value, tl.tensor) else not value


def as_tensor(value: Any) -> Any:
    return interpreter_semantic.to_tensor(value)


LOGIC = {"_both": both, "_either": either, "_opposite": opposite}


class Rewriter(interpreter.FunctionRewriter):                  # type: ignore[misc]
    """Triton's rewriting of a kernel, with names of its own, so that the kernel's module stays as it is."""

    ast_transformer = Logic()

    def _compile_and_exec(self, transformed_ast: Any) -> Any:
        outer = inspect.getclosurevars(self.fn).nonlocals
        names = {**vars(interpreter), **self.fn.__globals__, **outer, **LOGIC}
        for name, value in names.items():
            if getattr(value, "__module__", "") in LIBDEVICES and callable(value) and hasattr(libdevice, name):
                names[name] = getattr(libdevice, value.__name__)
            elif getattr(value, "__triton_builtin__", False):
                names[name] = semantic(value)
        local: dict[str, Any] = {}
        exec(compile(transformed_ast, filename=self.filename, mode="exec"), names, local)
        return local[self.fn.__name__]


LIBDEVICES = (libdevice.__name__, cuda_libdevice.__name__)


def load(oracle: Oracle, original: Callable[..., Any]) -> Callable[..., Any]:
    def access(pointers: Any, mask: Any, other: Any, *rest: Any, **options: Any) -> Any:
        type_ = pointers.get_element_ty()
        dtype = interpreter._get_np_dtype(type_)
        filled = np.broadcast_to(mask.data, pointers.data.shape)
        nothing = np.full(pointers.data.shape, 0 if oracle.blank else bits_of_undefined(type_, dtype), dtype)
        real, allowed = oracle.access(pointers.data, mask.data, "load", dtype.itemsize)
        held = nothing if other is None else np.where(filled, nothing, other.data.astype(dtype, copy=False))
        result = original(
            TensorHandle(real, pointers.dtype), TensorHandle(allowed, tl.int1), TensorHandle(held, type_), *rest,
            **options,
        )
        return result

    return access


def store(oracle: Oracle, original: Callable[..., Any]) -> Callable[..., Any]:
    def access(pointers: Any, value: Any, mask: Any, *rest: Any) -> Any:
        width = value.data.dtype.itemsize
        real, allowed = oracle.access(pointers.data, mask.data, "store", width, value.data)
        return original(TensorHandle(real, pointers.dtype), value, TensorHandle(allowed, tl.int1), *rest)

    return access


def rmw(oracle: Oracle, original: Callable[..., Any]) -> Callable[..., Any]:
    def access(operation: Any, pointers: Any, value: Any, mask: Any, *rest: Any) -> Any:
        kind = SAME_KIND.get(operation.name, operation.name)
        number = list(type(operation).__members__).index(kind) + 1
        real, allowed = oracle.access(pointers.data, mask.data, "atomic", value.data.dtype.itemsize, kind=number)
        return original(operation, TensorHandle(real, pointers.dtype), value, TensorHandle(allowed, tl.int1), *rest)

    return access


SAME_KIND = {"FADD": "ADD", "UMIN": "MAX", "UMAX": "MIN"}  # a maximum of floats is MAX or UMIN of bits, by the sign


def cas(oracle: Oracle, original: Callable[..., Any]) -> Callable[..., Any]:
    def access(pointers: Any, compared: Any, value: Any, *rest: Any) -> Any:
        everywhere = np.ones(pointers.data.shape, bool)
        real, allowed = oracle.access(pointers.data, everywhere, "atomic", value.data.dtype.itemsize, kind=-1)
        if not allowed.all():
            raise Refused(f"{kernels_line().spoken} compares and swaps outside of its memory")
        return original(TensorHandle(real, pointers.dtype), compared, value, *rest)

    return access


def bits_of_undefined(type_: Any, dtype: np.dtype) -> Any:
    """What an undefined element holds, in the interpreter's arrays: bfloat16 and float8 are bits there."""
    if dtype.kind == "f":
        return np.nan
    if dtype.kind == "b":
        return True
    if type_.is_floating():
        return 0x7FC0 if dtype.itemsize == 2 else 0x7F
    return GARBAGE & np.iinfo(dtype).max


# Functions of CUDA's library by torch's names, where these differ.
EXTERN: dict[str, Callable[..., torch.Tensor]] = {
    "rint": torch.round,
    "nearbyint": torch.round,
    "fabs": torch.abs,
    "fmod": torch.fmod,
    "isinfd": torch.isinf,
    "isnand": torch.isnan,
    "finite": torch.isfinite,
    "isfinited": torch.isfinite,
    "fast_tanh": torch.tanh,
    "fast_exp": torch.exp,
    "fast_log": torch.log,
    "fast_divide": torch.div,
    "div_rn": torch.div,
    "div_rz": torch.div,
    "fdiv_rn": torch.div,
    "powi": torch.pow,
    "cyl_bessel_i0": torch.special.i0,
    "cyl_bessel_i1": torch.special.i1,
    "tgamma": lambda x: torch.exp(torch.lgamma(x)),
    "normcdf": torch.special.ndtr,
}


def extern(library: Any, path: Any, symbol: str, args: list[Any], type_: Any, pure: Any) -> Any:
    """A function of CUDA's library, worked out by torch."""
    name = symbol.removeprefix("__nv_")
    candidates = [name, name.removesuffix("f"), name.removesuffix("d")]
    found = next((f for n in candidates if (f := EXTERN.get(n) or getattr(torch, n, None)) is not None), None)
    if found is None:
        raise Refused(f"{kernels_line().spoken} calls {symbol}, which the interpreter does not know")
    values = [torch.from_numpy(np.ascontiguousarray(arg.data)) for arg in args]
    dtype = interpreter._get_np_dtype(type_)
    return TensorHandle(found(*values).numpy().astype(dtype), type_.scalar)
