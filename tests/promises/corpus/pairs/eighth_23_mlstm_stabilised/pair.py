import torch
import torch.nn.functional as F

D = 5


def mlstm_recurrent(q, k, v, igate, fgate):
    """q, k, v: [B, H, S, D]; gates: [B, H, S, 1] before their activation."""
    b, h, s, d = q.shape
    c = q.new_zeros(b, h, d, d)
    n = q.new_zeros(b, h, d, 1)
    m = q.new_zeros(b, h, 1, 1)
    hs = []
    for t in range(s):
        qt, kt, vt = (y[:, :, t].unsqueeze(-1) for y in (q, k, v))
        it, ft = igate[:, :, t].unsqueeze(-1), fgate[:, :, t].unsqueeze(-1)
        log_f = F.logsigmoid(ft)
        m_new = torch.maximum(log_f + m, it)
        f_act, i_act = torch.exp(log_f + m - m_new), torch.exp(it - m_new)
        ks = kt / d ** 0.5
        c = f_act * c + i_act * (ks @ vt.transpose(-1, -2))
        n = f_act * n + i_act * ks
        num = qt.transpose(-1, -2) @ c
        qn = qt.transpose(-1, -2) @ n
        hs.append(num / torch.maximum(qn.abs(), torch.exp(-m_new)))
        m = m_new
    return torch.cat(hs, dim=-2)


def mlstm_parallel(q, k, v, igate, fgate):
    s, d = q.shape[-2:]
    cum = torch.cumsum(F.logsigmoid(fgate), dim=-2)
    log_d = cum - cum.transpose(-1, -2) + igate.transpose(-1, -2)
    log_d = log_d.masked_fill(~torch.tril(torch.ones(s, s, dtype=torch.bool)), -float("inf"))
    max_d = log_d.amax(dim=-1, keepdim=True)
    comb = (q @ (k / d ** 0.5).transpose(-1, -2)) * torch.exp(log_d - max_d)
    norm = torch.maximum(comb.sum(-1, keepdim=True).abs(), torch.exp(-max_d))
    return (comb / norm) @ v


left, right = mlstm_recurrent, mlstm_parallel
torch.manual_seed(33)
inputs = tuple(torch.randn(2, 2, 5, D) for _ in range(3)) + (torch.randn(2, 2, 5, 1), torch.randn(2, 2, 5, 1) + 1)
