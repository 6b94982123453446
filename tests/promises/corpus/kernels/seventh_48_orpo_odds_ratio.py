import torch
import triton
import triton.language as tl


@triton.jit
def log1mexp(x):
    # log(1 - e^x) for x < 0
    return tl.log(1.0 - tl.exp(x))


@triton.jit
def orpo_kernel(logps_ptr, nll_ptr, loss_ptr, ratio_ptr, pairs, beta, BLOCK: tl.constexpr):
    """logps holds the mean log probability of every chosen answer, then of every rejected one."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < pairs
    chosen = tl.load(logps_ptr + i, mask=ok, other=-1.0)
    rejected = tl.load(logps_ptr + pairs + i, mask=ok, other=-1.0)
    log_odds = (chosen - rejected) - (log1mexp(chosen) - log1mexp(rejected))
    # -log sigmoid(z) = softplus(-z), written so that neither branch overflows
    z = -log_odds
    neg_log_sig = tl.maximum(z, 0.0) + tl.log(1.0 + tl.exp(-tl.abs(z)))
    nll = tl.load(nll_ptr + i, mask=ok, other=0.0)
    tl.store(loss_ptr + i, nll + beta * neg_log_sig, mask=ok)
    tl.store(ratio_ptr + i, log_odds, mask=ok)


def launch(pairs=37):
    logps = -torch.rand(2 * pairs, device="cuda") - 0.1
    nll = torch.rand(pairs, device="cuda")
    loss = torch.empty_like(nll)
    ratio = torch.empty_like(nll)
    orpo_kernel[(triton.cdiv(pairs, 32),)](logps, nll, loss, ratio, pairs, 0.1, BLOCK=32)
    return loss.mean(), ratio


def reference(logps, nll):
    chosen, rejected = logps.chunk(2)
    log_odds = (chosen - rejected) - (torch.log1p(-chosen.exp()) - torch.log1p(-rejected.exp()))
    losses = nll - 0.1 * torch.nn.functional.logsigmoid(log_odds)
    return losses.mean(), log_odds


TRUTH = "verified"
