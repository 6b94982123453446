"""A Keras regression head, ported from torch by transposing the kernels."""
import torch
import torch.nn as nn

torch.manual_seed(0)


class Dense:
    def __init__(self, kernel, bias, activation=None):
        self.kernel, self.bias, self.activation = kernel, bias, activation

    def __call__(self, inputs):
        outputs = torch.tensordot(inputs, self.kernel, dims=([-1], [0]))
        outputs = outputs + self.bias
        return self.activation(outputs) if self.activation is not None else outputs


def swish(x):
    return x / (1.0 + torch.exp(-x))


torch_model = nn.Sequential(
    nn.Linear(10, 16),
    nn.SiLU(),
    nn.Linear(16, 16),
    nn.SiLU(),
    nn.Linear(16, 3),
).eval()


class KerasModel(nn.Module):
    def __init__(self, ref: nn.Sequential):
        super().__init__()
        linears = [m for m in ref if isinstance(m, nn.Linear)]
        self.kernels = nn.ParameterList([nn.Parameter(m.weight.detach().t().clone()) for m in linears])
        self.biases = nn.ParameterList([nn.Parameter(m.bias.detach().clone()) for m in linears])

    def forward(self, x):
        activations = [swish, swish, None]
        for k, b, a in zip(self.kernels, self.biases, activations):
            x = Dense(k, b, a)(x)
        return x


left = torch_model
right = KerasModel(torch_model).eval()
inputs = (torch.randn(5, 10),)
