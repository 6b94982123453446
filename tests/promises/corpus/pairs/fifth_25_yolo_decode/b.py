import torch

ANCHORS = torch.tensor([[10.0, 13.0], [16.0, 30.0], [33.0, 23.0]])
STRIDE = 8


def program(raw):
    b, _, ny, nx = raw.shape
    na = len(ANCHORS)
    y = raw.view(b, na, -1, ny, nx).permute(0, 1, 3, 4, 2).sigmoid()
    yv, xv = torch.meshgrid(torch.arange(ny), torch.arange(nx), indexing="ij")
    grid = torch.stack((xv, yv), 2).to(raw.dtype) - 0.5
    anchor_grid = ANCHORS.to(raw.dtype).view(1, na, 1, 1, 2)
    xy, wh, conf = y.split((2, 2, y.shape[-1] - 4), dim=-1)
    xy = (xy * 2 + grid) * STRIDE
    wh = 4 * wh.square() * anchor_grid
    return torch.cat((xy, wh, conf), -1).view(b, na * ny * nx, -1)
