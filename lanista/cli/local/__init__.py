"""Commands that run in this process and need no stack: `try`, `new`, `game`, `convert`."""
