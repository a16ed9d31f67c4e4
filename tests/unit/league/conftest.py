"""One profile for the league's property tests: a shared machine is no reason to fail."""

from hypothesis import settings

settings.register_profile("league", deadline=None)
settings.load_profile("league")
