"""Adapters to the games of other libraries: Gymnasium, PettingZoo, OpenSpiel, EnvPool."""
