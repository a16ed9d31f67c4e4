"""`python -m lanista` is `lanista`."""

from lanista.cli import main

main()
