"""Measurements, in rooms by subject. Those of the rooms below run by name alone: `python -m benchmarks.selfplay`."""

ROOMS = ("faults", "rules", "speed", "strength")
__path__ += [f"{__path__[0]}/{room}" for room in ROOMS]
