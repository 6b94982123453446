"""The same by chunks: quadratic inside a chunk, states between them (SSD)."""
import torch

from a import HEADS, SIZE, STATE, Stepwise

CHUNK = 4


def segment_sums(x):
    length = x.shape[-1]
    x = x.unsqueeze(-1).expand(*x.shape, length)
    strict = torch.ones(length, length, dtype=torch.bool, device=x.device).tril(-1)
    sums = x.masked_fill(~strict, 0).cumsum(-2)
    keep = torch.ones(length, length, dtype=torch.bool, device=x.device).tril()
    return sums.masked_fill(~keep, float("-inf"))


class Chunked(Stepwise):
    def forward(self, u):
        z, x, B, C, dt = self.project(u)
        batch, length = u.shape[:2]
        n = length // CHUNK
        a = (dt * -torch.exp(self.A_log)).view(batch, n, CHUNK, HEADS).permute(0, 3, 1, 2)
        xs = (x * dt.unsqueeze(-1)).view(batch, n, CHUNK, HEADS, SIZE)
        Bs, Cs = B.view(batch, n, CHUNK, STATE), C.view(batch, n, CHUNK, STATE)
        total = a.cumsum(-1)
        inside = torch.exp(segment_sums(a))
        y = torch.einsum("bcln,bcsn,bhcls,bcshp->bclhp", Cs, Bs, inside, xs)
        to_end = torch.exp(total[..., -1:] - total)
        states = torch.einsum("bcln,bhcl,bclhp->bchpn", Bs, to_end, xs)
        carried, before = torch.zeros_like(states[:, 0]), []
        for c in range(n):
            before.append(carried)
            carried = torch.exp(total[:, :, c, -1])[..., None, None] * carried + states[:, c]
        before = torch.stack(before, dim=1)
        y = y + torch.einsum("bcln,bchpn,bhcl->bclhp", Cs, before, torch.exp(total))
        y = y.reshape(batch, length, HEADS, SIZE) + x * self.D[:, None]
        return self.finish(y, z)
