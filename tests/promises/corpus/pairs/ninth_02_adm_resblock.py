# DIFFERENT
"""U-Net residual block with adaptive group norm (guided-diffusion), ported to a functional style."""
import torch
from torch import nn
import torch.nn.functional as F


class ResBlock(nn.Module):
    def __init__(self, c_in=4, c_out=8, emb=6):
        super().__init__()
        self.in_layers = nn.Sequential(nn.GroupNorm(2, c_in), nn.SiLU(), nn.Conv2d(c_in, c_out, 3, padding=1))
        self.emb_layers = nn.Sequential(nn.SiLU(), nn.Linear(emb, 2 * c_out))
        self.out_layers = nn.Sequential(nn.GroupNorm(2, c_out), nn.SiLU(), nn.Conv2d(c_out, c_out, 3, padding=1))
        self.skip_connection = nn.Conv2d(c_in, c_out, 1)
        for m in self.modules():
            if isinstance(m, nn.GroupNorm):
                nn.init.normal_(m.weight, 1, 0.2)
                nn.init.normal_(m.bias, 0, 0.2)

    def forward(self, x, emb):
        h = F.interpolate(self.in_layers[:2](x), scale_factor=2, mode="nearest")
        x = F.interpolate(x, scale_factor=2, mode="nearest")
        h = self.in_layers[2](h)
        emb_out = self.emb_layers(emb)[..., None, None]
        scale, shift = torch.chunk(emb_out, 2, dim=1)
        h = self.out_layers[0](h) * (1 + scale) + shift
        h = self.out_layers[1:](h)
        return self.skip_connection(x) + h


class Functional(nn.Module):
    def __init__(self, block):
        super().__init__()
        self.p = nn.ParameterDict({k.replace(".", "_"): v.detach().clone() for k, v in block.state_dict().items()})

    def forward(self, x, emb):
        p = self.p
        up = lambda t: t.repeat_interleave(2, dim=-1).repeat_interleave(2, dim=-2)
        h = up(F.silu(F.group_norm(x, 2, p["in_layers_0_weight"], p["in_layers_0_bias"])))
        h = F.conv2d(h, p["in_layers_2_weight"], p["in_layers_2_bias"], padding=1)
        mod = F.linear(F.silu(emb), p["emb_layers_1_weight"], p["emb_layers_1_bias"])
        shift, scale = mod[:, :, None, None].chunk(2, dim=1)
        h = F.group_norm(h, 2, p["out_layers_0_weight"], p["out_layers_0_bias"])
        h = F.silu(torch.addcmul(shift, h, 1 + scale))
        h = F.conv2d(h, p["out_layers_2_weight"], p["out_layers_2_bias"], padding=1)
        # a 1 x 1 convolution commutes with nearest upsampling
        return up(F.conv2d(x, p["skip_connection_weight"], p["skip_connection_bias"])) + h


torch.manual_seed(2105)
left = ResBlock().eval()
right = Functional(left).eval()
inputs = {"x": torch.randn(2, 4, 4, 3), "emb": torch.randn(2, 6)}
