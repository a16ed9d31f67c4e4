"""Where a piece's league runs: what surrounds the stack, so that a fault can be made there."""
