import torch
from torch import nn

torch.manual_seed(124)
N = 3


class Kalman(nn.Module):
    """Predict and update of a batch of filters, one scalar observation each."""

    def __init__(self):
        super().__init__()
        self.F = nn.Parameter(torch.eye(N) + 0.3 * torch.randn(N, N))
        self.Q = nn.Parameter(torch.diag(torch.rand(N) + 0.1))
        self.H = nn.Parameter(torch.randn(1, N))
        self.log_r = nn.Parameter(torch.randn(()))

    def predict(self, x, P):
        return x @ self.F.T, self.F @ P @ self.F.T + self.Q

    def forward(self, x, P, z):
        x, P = self.predict(x, P)
        S = self.H @ P @ self.H.T + self.log_r.exp()
        K = P @ self.H.T / S
        residual = z[:, None, None] - self.H @ x[:, :, None]
        x = x + (K @ residual).squeeze(-1)
        return x, (torch.eye(N) - K @ self.H) @ P


class Joseph(Kalman):
    """Stays symmetric and positive under rounding."""

    def forward(self, x, P, z):
        x, P = self.predict(x, P)
        h = self.H[0]
        r = torch.exp(self.log_r)
        Ph = torch.einsum("bij,j->bi", P, h)
        k = Ph / (torch.einsum("bi,i->b", Ph, h) + r)[:, None]
        x = x + k * (z - x @ h)[:, None]
        A = torch.eye(N) - k[:, :, None] * h
        return x, A @ P @ A.transpose(1, 2) + r * torch.einsum("bi,bj->bij", k, k)


left = Kalman()
right = Joseph()
right.load_state_dict(left.state_dict())
half = torch.randn(4, N, N)
inputs = (torch.randn(4, N), half @ half.mT + torch.eye(N), torch.randn(4))
