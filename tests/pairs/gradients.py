"""Gradients by autograd, and the same derived by hand. Batches are [rows, features], attention [heads, tokens, width].
"""

import torch
from torch import func
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from pairs.pair import Pair, inputs, integers, twins, vary


def leaves(*tensors):
    """Copies that want gradients: the arguments themselves are the caller's."""
    return [tensor.detach().clone().requires_grad_() for tensor in tensors]


# ---------------------------------------------------------------------------------------------------- a linear, a loss


def regression(weight, bias, x, y):
    weight, bias = leaves(weight, bias)
    loss = F.mse_loss(F.linear(x, weight, bias), y)
    loss.backward()
    return loss.detach(), weight.grad, bias.grad


def regression_by_hand(weight, bias, x, y, factor=2, transposed=False):
    error = x @ weight.T + bias - y
    slope = factor * error / error.numel()
    return error.square().mean(), slope.T @ x, slope.sum(1 if transposed else 0)


def regression_per_row(weight, bias, x, y):
    error = x @ weight.T + bias - y
    slope = 2 * error / error.shape[0]
    return error.square().mean(), slope.T @ x, slope.sum(0)


# ------------------------------------------------------------------------------------------------------ two layers


def mlp(x, up, down):
    return F.gelu(x @ up.T) @ down.T


def mlp_gradients(x, up, down, out):
    x, up, down = leaves(x, up, down)
    return torch.autograd.grad(mlp(x, up, down), (x, up, down), out)


def mlp_by_hand(x, up, down, out, missing=False):
    inner = x @ up.T
    normal = 0.5 * (1 + torch.erf(inner * 0.5**0.5))
    density = torch.exp(-0.5 * inner * inner) * (2 * torch.pi) ** -0.5
    slope = (out @ down) * (normal if missing else normal + inner * density)
    return slope @ up, slope.T @ x, out.T @ (inner * normal)


def mlp_by_vjp(x, up, down, out):
    _, backward = func.vjp(mlp, x, up, down)
    return backward(out)


def mlp_detached(x, up, down, out):
    x, up, down = leaves(x, up, down)
    inner = x @ up.T
    return torch.autograd.grad(inner * F.gelu(inner.detach()) / inner.detach() @ down.T, (x, up, down), out)


# -------------------------------------------------------------------------------------------------------- rms norm


def rms_norm_gradients(x, weight, out):
    x, weight = leaves(x, weight)
    y = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * weight
    return y.detach(), *torch.autograd.grad(y, (x, weight), out)


class RMSNorm(torch.autograd.Function):
    whole = True

    @staticmethod
    def forward(ctx, x, weight):
        inverse = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
        ctx.save_for_backward(x, weight, inverse)
        return x * inverse * weight

    @classmethod
    def of_x(cls, x, scaled, inverse):
        return inverse * (scaled - x * inverse**2 * (scaled * x).mean(-1, keepdim=True))

    @staticmethod
    def backward(ctx, out):
        x, weight, inverse = ctx.saved_tensors
        return RMSNorm.of_x(x, out * weight, inverse), (out * x * inverse).sum(0)


class RMSNormOfConstantScale(RMSNorm):
    @staticmethod
    def backward(ctx, out):
        x, weight, inverse = ctx.saved_tensors
        return out * weight * inverse, (out * x * inverse).sum(0)


def by_function(x, weight, out, function=RMSNorm):
    x, weight = leaves(x, weight)
    y = function.apply(x, weight)
    y.backward(out)
    return y.detach(), x.grad, weight.grad


# --------------------------------------------------------------------------------------------------- cross-entropy


def loss_gradient(logits, labels):
    (logits,) = leaves(logits)
    loss = F.cross_entropy(logits, labels)
    loss.backward()
    return loss.detach(), logits.grad


class CrossEntropy(torch.autograd.Function):
    """Keeps the gradient instead of the logits, as fused losses do."""

    @staticmethod
    def forward(ctx, logits, labels, by_rows):
        shifted = logits - logits.max(-1, keepdim=True).values
        total = shifted.exp().sum(-1, keepdim=True)
        rows = torch.arange(len(labels))
        loss = (total.log().squeeze(-1) - shifted[rows, labels]).mean()
        gradient = shifted.exp() / total
        gradient[rows, labels] -= 1
        ctx.save_for_backward(gradient / len(labels) if by_rows else gradient)
        return loss

    @staticmethod
    def backward(ctx, out):
        (gradient,) = ctx.saved_tensors
        return out * gradient, None, None


def loss_by_function(logits, labels, by_rows=True):
    (logits,) = leaves(logits)
    loss = CrossEntropy.apply(logits, labels, by_rows)
    loss.backward()
    return loss.detach(), logits.grad


# ------------------------------------------------------------------------------------------------------- attention


def attention(q, k, v):
    return torch.softmax(q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5, -1) @ v


def attention_gradients(q, k, v, out):
    q, k, v = leaves(q, k, v)
    y = attention(q, k, v)
    return y.detach(), *torch.autograd.grad(y, (q, k, v), out)


def attention_of_torch(q, k, v, out):
    q, k, v = leaves(q, k, v)
    y = F.scaled_dot_product_attention(q[None], k[None], v[None])[0]
    return y.detach(), *torch.autograd.grad(y, (q, k, v), out)


def recomputing_attention(q, k, v, out, delta=True, scaled=True):
    """As flash attention goes back: probabilities from the logarithm of their sum, the correction from output and
    gradient."""

    class Attention(torch.autograd.Function):
        @staticmethod
        def forward(ctx, q, k, v):
            scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
            logsum = scores.logsumexp(-1, keepdim=True)
            y = (scores - logsum).exp() @ v
            ctx.save_for_backward(q, k, v, y, logsum)
            return y

        @staticmethod
        def backward(ctx, out):
            q, k, v, y, logsum = ctx.saved_tensors
            scale = q.shape[-1] ** -0.5
            p = (q @ k.transpose(-1, -2) * scale - logsum).exp()
            slope = p * (out @ v.transpose(-1, -2) - (out * y).sum(-1, keepdim=True) * delta)
            slope = slope * scale if scaled else slope
            return slope @ k, slope.transpose(-1, -2) @ q, p.transpose(-1, -2) @ out

    q, k, v = leaves(q, k, v)
    y = Attention.apply(q, k, v)
    return y.detach(), *torch.autograd.grad(y, (q, k, v), out)


# ------------------------------------------------------------------------------------------------------- recomputed


def block_gradients(x, up, down, out, recompute=False, detached=False):
    x, up, down = leaves(x, up, down)

    def block(x):
        return x + mlp(x.detach() if detached else x, up, down)

    first, second = (checkpoint(block, x, use_reentrant=False) if recompute else block(x) for _ in range(2))
    return torch.autograd.grad(first + first * second, (x, up, down), out)


# ------------------------------------------------------------------------------------------------------- per sample


def sample_loss(weight, x, y):
    return (torch.tanh(weight @ x) - y).square().sum()


def per_sample_by_loop(weight, x, y):
    found = []
    for row, target in zip(x, y, strict=True):
        (leaf,) = leaves(weight)
        sample_loss(leaf, row, target).backward()
        found.append(leaf.grad)
    return torch.stack(found)


def per_sample_by_vmap(weight, x, y):
    return func.vmap(func.grad(sample_loss), in_dims=(None, 0, 0))(weight, x, y)


def per_sample_shared(weight, x, y):
    return func.vmap(func.grad(sample_loss), in_dims=(None, 0, None))(weight, x, y.mean(0))


# --------------------------------------------------------------------------------------------- jacobians, directions


def layer(x, weight, bias):
    return torch.tanh(weight @ x + bias)


def jacobian_by_func(x, weight, bias, reverse=True):
    return (func.jacrev if reverse else func.jacfwd)(layer)(x, weight, bias)


def jacobian_by_hand(x, weight, bias):
    return (1 - layer(x, weight, bias).square())[:, None] * weight


def jacobian_by_columns(x, weight, bias):
    return (1 - (weight @ x + bias).square())[:, None] * weight


def along_by_jvp(x, weight, bias, towards):
    return func.jvp(lambda at: layer(at, weight, bias), (x,), (towards,))


def along_by_hand(x, weight, bias, towards):
    y = layer(x, weight, bias)
    return y, (1 - y * y) * (weight @ towards)


def along_without_slope(x, weight, bias, towards):
    return layer(x, weight, bias), weight @ towards


# ------------------------------------------------------------------------------------------------- twice backwards


def penalty(weight, x, attached=True):
    """The gradient of a critic's gradient penalty."""
    weight, x = leaves(weight, x)
    score = torch.tanh(x @ weight).sum()
    (slope,) = torch.autograd.grad(score, x, create_graph=attached)
    loss = (slope.square().sum(-1) - 1).square().mean() + 0 * (x @ weight).sum()
    return loss.detach(), *torch.autograd.grad(loss, weight)


def penalty_by_hand(weight, x):
    y = torch.tanh(x @ weight)
    slope = (1 - y * y)[:, None] * weight
    excess = slope.square().sum(-1) - 1
    by_slope = 4 * excess[:, None] * slope / len(x)
    of_factor = (by_slope * weight).sum(-1) * -2 * y * (1 - y * y)
    return excess.square().mean(), ((1 - y * y)[:, None] * by_slope).sum(0) + x.T @ of_factor


def hessian_along(x, weight, towards):
    (x,) = leaves(x)
    (slope,) = torch.autograd.grad(torch.sigmoid(weight @ x).sum(), x, create_graph=True)
    return torch.autograd.grad(slope, x, towards)[0]


def hessian_along_by_jvp(x, weight, towards, power=1):
    slope = func.grad(lambda at: torch.sigmoid(weight @ at).pow(power).sum())
    return func.jvp(slope, (x,), (towards,))[1]


# ------------------------------------------------------------------------------------------------------- embeddings


def table_gradient(table, ids, out):
    (table,) = leaves(table)
    F.embedding(ids, table).backward(out)
    return table.grad


def table_by_index_add(table, ids, out):
    return torch.zeros_like(table).index_add(0, ids, out)


def table_by_assignment(table, ids, out):
    return torch.zeros_like(table).index_put((ids,), out)


PAIRS = [
    Pair("gradients of a regression", 26, regression, regression_by_hand,
         inputs((3, 5), (3,), (4, 5), (4, 3)),
         twins(factor_two_missing=vary(regression_by_hand, factor=1), mean_over_rows_only=regression_per_row)),
    Pair("gradients of two layers", 26, mlp_gradients, mlp_by_hand, inputs((4, 5), (6, 5), (3, 6), (4, 3)),
         twins(one_term_missing=vary(mlp_by_hand, missing=True), detached=mlp_detached)),
    Pair("gradients of two layers by vjp", 26, mlp_gradients, mlp_by_vjp, inputs((4, 5), (6, 5), (3, 6), (4, 3)),
         twins(one_term_missing=vary(mlp_by_hand, missing=True))),
    Pair("rms norm with its own backward", 27, rms_norm_gradients, by_function, inputs((4, 6), (6,), (4, 6)),
         twins(one_term_missing=vary(by_function, function=RMSNormOfConstantScale))),
    Pair("cross-entropy with its own backward", 27, loss_gradient, loss_by_function, inputs((5, 7), integers(7, 5)),
         twins(not_divided_by_rows=vary(loss_by_function, by_rows=False))),
    Pair("attention with its own backward", 27, attention_gradients, recomputing_attention,
         inputs((2, 5, 4), (2, 7, 4), (2, 7, 4), (2, 5, 4)),
         twins(correction_missing=vary(recomputing_attention, delta=False),
               scale_missing=vary(recomputing_attention, scaled=False))),
    Pair("gradients of torch's attention", 27, attention_gradients, attention_of_torch,
         inputs((2, 5, 4), (2, 7, 4), (2, 7, 4), (2, 5, 4)),
         twins(correction_missing=vary(recomputing_attention, delta=False))),
    Pair("gradients with recomputation", 28, block_gradients, vary(block_gradients, recompute=True),
         inputs((4, 5), (6, 5), (5, 6), (4, 5)),
         twins(detached=vary(block_gradients, recompute=True, detached=True))),
    Pair("gradients of each sample", 28, per_sample_by_loop, per_sample_by_vmap, inputs((3, 5), (4, 5), (4, 3)),
         twins(target_shared=per_sample_shared)),
    Pair("jacobian backwards", 29, jacobian_by_func, jacobian_by_hand, inputs((5,), (3, 5), (3,)),
         twins(slope_of_the_input=jacobian_by_columns)),
    Pair("jacobian forwards", 29, vary(jacobian_by_func, reverse=False), jacobian_by_hand, inputs((5,), (3, 5), (3,)),
         twins(slope_of_the_input=jacobian_by_columns)),
    Pair("derivative along a direction", 29, along_by_jvp, along_by_hand, inputs((5,), (3, 5), (3,), (5,)),
         twins(slope_missing=along_without_slope)),
    Pair("gradient of a gradient penalty", 29, penalty, penalty_by_hand, inputs((5,), (4, 5)),
         twins(detached=vary(penalty, attached=False))),
    Pair("hessian along a direction", 29, hessian_along, hessian_along_by_jvp, inputs((5,), (3, 5), (5,)),
         twins(another_function=vary(hessian_along_by_jvp, power=2))),
    Pair("gradient of an embedding", 28, table_gradient, table_by_index_add, inputs((6, 4), integers(6, 5), (5, 4)),
         twins(last_one_wins=table_by_assignment)),
]
