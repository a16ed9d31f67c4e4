"""The error of an algorithm that cannot be used."""


class BadAlgorithm(ValueError):
    """The algorithm's name, options or steps cannot be used; the message says what is allowed."""
