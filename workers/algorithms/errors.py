"""The error of an algorithm that cannot be used, and the end of an update that was asked to stop."""


class BadAlgorithm(ValueError):
    """The algorithm's name, options or steps cannot be used; the message says what is allowed."""


class UpdateStopped(Exception):
    """The update ended between two gradient steps because it was asked to; what it learnt is not to be used."""
