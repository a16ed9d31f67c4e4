"""One profile for all property tests: a slow machine is no reason to fail, and one commit draws the same examples."""

from hypothesis import HealthCheck, settings

settings.register_profile("lanista", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("lanista")
