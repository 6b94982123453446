"""TVM, from an exported program through Relax, for the machine's own processor."""

from samesame.fuzz.backends.backend import EXPORTED, Backend

TEXT = f"""import tvm
from tvm.relax.frontend.torch import from_exported_program
{EXPORTED}built = tvm.compile(from_exported_program(exported, keep_params_as_input=False), target="llvm")
machine = tvm.relax.VirtualMachine(built, tvm.cpu())["main"]
tensor = tvm.runtime.tensor
compiled = lambda *given: [torch.from_numpy(y.numpy()) for y in machine(*(tensor(x.numpy()) for x in given))]
"""
BACKENDS = (Backend("tvm", "tvm", TEXT, package="tvm", install="apache-tvm", writes=False),)
