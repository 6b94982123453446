"""The renderer by optical depths: transmittance is exp of a running sum, opacity what is left after the whole ray."""

import torch
from a import NeRF
from torch import nn


class OpticalDepthNeRF(nn.Module):
    def __init__(self):
        super().__init__()
        theirs = NeRF()
        self.L, self.far = theirs.frequencies, theirs.far_delta
        # encoding here: x, then all sines, then all cosines, coordinates outermost
        order = [0, 1, 2]
        for part in range(2):
            order += [3 + 6 * k + 3 * part + c for c in range(3) for k in range(self.L)]
        self.w1 = nn.Parameter(theirs.pts.weight.detach()[:, order].clone())
        self.b1 = theirs.pts.bias
        E = len(order)
        self.w2_skip = nn.Parameter(theirs.pts2.weight.detach()[:, :E][:, order].clone())
        self.w2 = nn.Parameter(theirs.pts2.weight.detach()[:, E:].clone())
        self.b2 = theirs.pts2.bias
        self.head_w = nn.Parameter(torch.cat([theirs.rgb.weight, theirs.alpha.weight]).detach())
        self.head_b = nn.Parameter(torch.cat([theirs.rgb.bias, theirs.alpha.bias]).detach())

    def forward(self, rays_o, rays_d, z):
        x = rays_o.unsqueeze(1) + torch.einsum("rc,rs->rsc", rays_d, z)
        angles = (x.unsqueeze(-1) * 2.0 ** torch.arange(self.L)).flatten(-2)
        e = torch.cat([x, angles.sin(), angles.cos()], -1)
        h = (e @ self.w1.t() + self.b1).relu()
        h = (e @ self.w2_skip.t() + h @ self.w2.t() + self.b2).relu()
        out = h @ self.head_w.t() + self.head_b
        colour, density = out[..., :3].sigmoid(), out[..., 3].relu()
        length = rays_d.square().sum(-1, keepdim=True).sqrt()
        step = torch.cat([z.diff(dim=-1), z.new_full((z.shape[0], 1), self.far)], 1) * length
        tau = density * step
        after = torch.exp(-tau.cumsum(-1))                                # transmittance behind each sample
        through = torch.cat([torch.ones_like(after[:, :1]), after[:, :-1]], 1)
        weights = through - after
        opacity = 1 - after[:, -1]
        rgb = torch.einsum("rs,rsc->rc", weights, colour) + after[:, -1:]
        return rgb, torch.einsum("rs,rs->r", weights, z), opacity
