"""Learning from samples. The interface is in `workers.algorithms.contract`."""
