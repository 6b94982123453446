# EQUAL
# keras.layers.MultiHeadAttention (EinsumDense kernels of shape [D, H, K]) ported to torch.nn.MultiheadAttention
import math
import torch
from torch import nn

D, H, K = 12, 3, 4


class KerasMultiHeadAttention(nn.Module):
    def __init__(self):
        super().__init__()
        def dense(*shape):
            return nn.Parameter(torch.randn(*shape) / math.sqrt(D))
        self.query_kernel, self.query_bias = dense(D, H, K), dense(H, K)
        self.key_kernel, self.key_bias = dense(D, H, K), dense(H, K)
        self.value_kernel, self.value_bias = dense(D, H, K), dense(H, K)
        self.output_kernel, self.output_bias = dense(H, K, D), dense(D)

    def forward(self, query, value):
        q = torch.einsum("abc,cde->abde", query, self.query_kernel) + self.query_bias
        k = torch.einsum("abc,cde->abde", value, self.key_kernel) + self.key_bias
        v = torch.einsum("abc,cde->abde", value, self.value_kernel) + self.value_bias
        q = q * (1.0 / math.sqrt(float(K)))
        scores = torch.einsum("aecd,abcd->acbe", k, q)
        scores = torch.softmax(scores, dim=-1)
        out = torch.einsum("acbe,aecd->abcd", scores, v)
        return torch.einsum("abcd,cde->abe", out, self.output_kernel) + self.output_bias


class TorchMultiHeadAttention(nn.Module):
    def __init__(self):
        super().__init__()
        keras = KerasMultiHeadAttention()
        self.mha = nn.MultiheadAttention(D, H, batch_first=True)
        kernels = [keras.query_kernel, keras.key_kernel, keras.value_kernel]
        biases = [keras.query_bias, keras.key_bias, keras.value_bias]
        with torch.no_grad():
            self.mha.in_proj_weight.copy_(torch.cat([k.reshape(D, H * K).T for k in kernels]))
            self.mha.in_proj_bias.copy_(torch.cat([b.reshape(-1) for b in biases]))
            self.mha.out_proj.weight.copy_(keras.output_kernel.reshape(H * K, D).T)
            self.mha.out_proj.bias.copy_(keras.output_bias)

    def forward(self, query, value):
        return self.mha(query, value, value, need_weights=False)[0]


left = KerasMultiHeadAttention
right = TorchMultiHeadAttention


def inputs():
    return torch.randn(2, 5, D), torch.randn(2, 7, D)
