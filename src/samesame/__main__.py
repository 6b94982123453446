"""`python -m samesame` is the command `samesame`."""

from samesame.cli import main

main()
