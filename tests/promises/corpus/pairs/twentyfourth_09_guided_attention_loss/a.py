"""ESPnet's guided attention loss for Tacotron 2, with the alignment of a location-less attention in front."""
import torch


def alignment(queries, keys, text_lengths):
    energies = queries @ keys.transpose(1, 2) / keys.shape[-1] ** 0.5
    hidden = torch.arange(keys.shape[1]) >= text_lengths[:, None]
    return energies.masked_fill(hidden[:, None, :], float("-inf")).softmax(-1)


class GuidedAttentionLoss:
    def __init__(self, sigma=0.4, alpha=1.0):
        self.sigma, self.alpha = sigma, alpha

    def soft_mask(self, ilens, olens, T_in, T_out):
        grid_x = torch.arange(T_out)[None, :, None].to(torch.get_default_dtype())
        grid_y = torch.arange(T_in)[None, None, :].to(torch.get_default_dtype())
        x, y = grid_x / olens[:, None, None], grid_y / ilens[:, None, None]
        return 1.0 - torch.exp(-((y - x) ** 2) / (2 * (self.sigma**2)))

    @staticmethod
    def make_masks(ilens, olens, T_in, T_out):
        in_masks = torch.arange(T_in)[None, :] < ilens[:, None]
        out_masks = torch.arange(T_out)[None, :] < olens[:, None]
        return out_masks.unsqueeze(-1) & in_masks.unsqueeze(-2)

    def __call__(self, queries, keys, ilens, olens):
        att_ws = alignment(queries, keys, ilens)
        T_out, T_in = att_ws.shape[1:]
        weights = self.soft_mask(ilens, olens, T_in, T_out)
        masks = self.make_masks(ilens, olens, T_in, T_out)
        losses = weights * att_ws
        return self.alpha * torch.mean(losses.masked_select(masks))


def inputs():
    queries, keys = torch.randn(3, 7, 4), torch.randn(3, 5, 4)
    return queries, keys, torch.tensor([5, 3, 4]), torch.tensor([7, 6, 2])
