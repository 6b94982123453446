# One sweep of alternating least squares for implicit feedback (Hu, Koren, Volinsky), with
# users cut over the ranks. The item half needs Gram matrices summed over users.
import torch
import torch.distributed as dist

ALPHA, REG = 4.0, 0.1


def solve_rows(fixed, gram, ratings):
    """x_u = (YtY + Yt (C_u - I) Y + reg I)^-1 Yt C_u p_u for each row of ratings."""
    conf = ALPHA * ratings
    k = fixed.shape[1]
    a = gram + torch.einsum("un,ni,nj->uij", conf, fixed, fixed) + REG * torch.eye(k)
    b = (1 + conf) * (ratings > 0).to(fixed.dtype) @ fixed
    return torch.linalg.solve(a, b.unsqueeze(-1)).squeeze(-1)


def sequential():
    def sweep(ratings, items):
        users = solve_rows(items, items.T @ items, ratings)
        new_items = solve_rows(users, users.T @ users, ratings.T)
        return users, new_items

    return sweep


def distributed(rank, world_size):
    def sweep(ratings, items):
        users = solve_rows(items, items.T @ items, ratings)       # local users only
        k = users.shape[1]
        gram = users.T @ users
        conf = ALPHA * ratings                                    # local users x all items
        a = torch.einsum("un,ui,uj->nij", conf, users, users)
        b = ((1 + conf) * (ratings > 0).to(users.dtype)).T @ users
        # one bucket for the three sums
        bucket = torch.cat([gram.reshape(-1), a.reshape(-1), b.reshape(-1)])
        dist.all_reduce(bucket)
        n = ratings.shape[1]
        gram, a, b = bucket.split([k * k, n * k * k, n * k])
        lhs = gram.view(1, k, k) + a.view(n, k, k) + REG * torch.eye(k)
        new_items = torch.linalg.solve(lhs, b.view(n, k, 1)).squeeze(-1)
        return users, new_items

    return sweep


def inputs():
    ratings = torch.relu(torch.randn(8, 5))
    return ratings, torch.randn(5, 3)


world_size = 2
relations = {"ratings": "shard(0)"}
expected = {"0": "shard(0)"}
TRUTH = "refines"
