"""Scores of every move in positions of connect four, by bitbully's exact solver: run by build/bitbully-venv.

Reads a JSON list of move lists (columns 0 to 6), prints a JSON list of lists of seven scores; null for full columns.
"""

from __future__ import annotations

import json
import sys

import bitbully as bb


def main() -> None:
    solver = bb.BitBully()
    found = []
    for moves in json.loads(sys.stdin.read()):
        scores = solver.score_all_moves(bb.Board(moves))
        found.append([int(scores[column]) if column in scores else None for column in range(7)])
    print(json.dumps(found))


if __name__ == "__main__":
    main()
