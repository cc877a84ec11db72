"""`python -m postmortem`."""

from postmortem.cli import main

main()
