"""`python -m samesame.cli` is the command `samesame`."""

from samesame.cli import main

main()
