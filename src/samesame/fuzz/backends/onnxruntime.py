"""ONNX Runtime, through torch.onnx.export."""

from samesame.fuzz.backends.backend import MODULE, Backend

TEXT = f"""{MODULE}onnx = torch.onnx.export(module, tuple(inputs()), dynamo=True, verbose=False)
compiled = lambda *given: tuple(onnx(*given))
"""
INSTALL = "onnxruntime onnxscript"
BACKENDS = (Backend("onnxruntime", "onnx", TEXT, package="onnxruntime", install=INSTALL, writes=False),)
