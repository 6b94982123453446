"""Of which primes a number is made, so that √(a·b) and √a·√b are one product of roots of primes.

Tables of a schedule hold products of some ten numbers of five digits, so trial division does not get far. What it
leaves is taken apart as Pollard did: x → x² + c visits the same rest modulo a prime p after some √p steps, long before
it does so modulo all of the number. A number that resists counts as one prime: nothing is wrong then, but its root is
not seen to be a product of others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from math import gcd, isqrt

from samesame.formula.effort import remember

SMALL = 1000                # by trial division
STEPS = 2_000               # of one walk: enough for a prime of six digits, mostly
WALKS = 2
MOST_BITS = 256             # of a number that is taken apart further
BASES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)


@remember
def prime_factors(value: Fraction) -> tuple[tuple[int, int], ...]:
    """Primes with exponents, those of the numerator first."""
    above, below = (Counter(_primes(part)) for part in (value.numerator, value.denominator))
    return (*sorted(above.items()), *((q, -k) for q, k in sorted(below.items())))


def _primes(n: int) -> Iterator[int]:
    q = 2
    while n > 1 and q <= SMALL:
        while n % q == 0:
            yield q
            n //= q
        q += 1 if q == 2 else 2
    if n > 1:
        yield from _large_primes(n)


def _large_primes(n: int) -> Iterator[int]:
    """The primes of a number that has none up to a thousand."""
    divisor = None if n < SMALL**2 or n.bit_length() > MOST_BITS or _is_prime(n) else _divisor(n)
    if divisor is None:
        yield n
        return
    yield from _large_primes(divisor)
    yield from _large_primes(n // divisor)


def _is_prime(n: int) -> bool:
    """Whether it passes for a prime with the bases: none of up to 81 bits does that is not one, and of longer ones one
    that does is left as it is."""
    twos = (n - 1 & 1 - n).bit_length() - 1
    for base in BASES:
        x = pow(base, n - 1 >> twos, n)
        if x not in (1, n - 1) and not any((x := x * x % n) == n - 1 for _ in range(twos - 1)):
            return False
    return True


def _divisor(n: int) -> int | None:
    """A divisor of a composite number, where a short walk finds one."""
    root = isqrt(n)
    if root * root == n:
        return root
    for c in range(1, WALKS + 1):
        slow = fast = 2
        for _ in range(STEPS):
            slow = (slow * slow + c) % n
            fast = (fast * fast + c) % n
            fast = (fast * fast + c) % n
            divisor = gcd(slow - fast, n)
            if divisor == n:
                break
            if divisor > 1:
                return divisor
    return None
