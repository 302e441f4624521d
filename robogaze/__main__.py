"""`python -m robogaze`."""

from robogaze.cli import main

main()
