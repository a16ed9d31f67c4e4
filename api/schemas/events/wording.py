"""Parts of the sentences of events."""

from __future__ import annotations


def because(reason: str | None) -> str:
    """A reason at the end of a sentence, or nothing."""
    return f": {reason}" if reason else ""


def counted(number: int, noun: str) -> str:
    """1 game, 20,000 games."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def of_trial(version: str, trial: str | None) -> str:
    """A version by its name, and with its trial where that is another one: the same names are in many trials."""
    return f"{version} of {trial}" if trial else version


def spelled(word: str) -> str:
    """An identifier as words: main_exploiter is "main exploiter"."""
    return word.replace("_", " ")


def joined(*parts: str) -> str:
    """The parts that are not empty, with commas."""
    return ", ".join(part for part in parts if part)


def seconds(duration: float) -> str:
    """0.5 s, 5 s, 2 min."""
    return f"{duration:g} s" if duration < 120 else f"{duration / 60:.0f} min"


def sentence_case(text: str) -> str:
    """The text with its first letter in upper case."""
    return text[:1].upper() + text[1:]
