"""OpenVINO, as a back end of torch.compile."""

from samesame.fuzz.backends.backend import Backend

TEXT = 'import openvino.torch\ncompiled = torch.compile(program, backend="openvino")'
BACKENDS = (Backend("openvino", "openvino", TEXT, package="openvino", install="openvino", writes=False),)
