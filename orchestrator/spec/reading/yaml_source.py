"""Reads YAML as plain values, each with its line and column.

Scalars are read as people mean them, not by YAML 1.1: `no` is text, 3e-4 is a number, 4_000_000 too.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import yaml

from orchestrator.spec.reading.problems import Problem, path_text

Path = tuple[str | int, ...]
Place = tuple[int, int]

LARGEST_TEXT = 1_000_000
MOST_VALUES = 50_000
"""The most values and keys after aliases are expanded: a few lines can expand to billions."""
DEEPEST = 50

_STANDARD = "tag:yaml.org,2002:"
_SCALARS: dict[str, tuple[re.Pattern[str], Callable[[str], Any]]] = {
    "null": (re.compile(r"|~|null|Null|NULL"), lambda text: None),
    "bool": (re.compile(r"true|True|TRUE|false|False|FALSE"), lambda text: text.lower() == "true"),
    "int": (re.compile(r"[-+]?(?:0|[1-9][0-9_]{0,30})"), lambda text: int(text.replace("_", ""))),
    "float": (
        re.compile(r"[-+]?(?:0|[1-9][0-9_]{0,30})(?:\.[0-9_]*(?:[eE][-+]?[0-9]{1,5})?|[eE][-+]?[0-9]{1,5})"),
        lambda text: float(text.replace("_", "")),
    ),
}


_NOT_TEXT = yaml.reader.Reader.NON_PRINTABLE
"""Characters that YAML does not allow."""


class _Loader(yaml.CSafeLoader):
    """Composes nodes with the scalar rules of this module; in C, for strangers send texts too."""


_Loader.yaml_implicit_resolvers = {
    None: [(_STANDARD + name, re.compile(rf"(?:{pattern.pattern})\Z")) for name, (pattern, _) in _SCALARS.items()]
}


@dataclass(kw_only=True)
class Document:
    """A parsed text: its values, the positions of values and keys, and problems of the text itself."""

    value: Any = None
    values: dict[Path, Place] = field(default_factory=dict)
    keys: dict[Path, Place] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def place(self, path: Path, *, of_key: bool = False) -> Place:
        """The position of a path, or of its nearest parent that is in the text."""
        if of_key and path in self.keys:
            return self.keys[path]
        while path and path not in self.values:
            path = path[:-1]
        return self.values.get(path, (1, 1))


class TextError(Exception):
    """The text is not YAML."""

    def __init__(self, message: str, place: Place = (1, 1)) -> None:
        super().__init__(message)
        self.place = place


def read_yaml(text: str) -> Document:
    """Parse the text; raises TextError if it is not YAML, empty or too large."""
    if len(text) > LARGEST_TEXT:
        raise TextError(f"{len(text)} characters are too many; at most {LARGEST_TEXT} are allowed")
    if wrong := _NOT_TEXT.search(text):
        raise TextError(
            f"not valid YAML: the character {wrong.group()!r} is not allowed", _place_of(text, wrong.start())
        )
    try:
        _require_small(text)
        node = _Loader(text).get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = ", ".join(part for part in (error.context, error.problem) if part)
        raise TextError(f"not valid YAML: {said}", _place(mark) if mark else (1, 1)) from None
    except yaml.YAMLError as error:  # what the C parser cannot place
        raise TextError(f"not valid YAML: {error}") from None
    if node is None:
        raise TextError("the file is empty; a trial needs at least  game: {id: connect_four}")
    document = Document()
    document.value = _Reader(document).value(node, ())
    return document


def _require_small(text: str) -> None:
    """Count what the text stands for before anything is built from it: values, with aliases followed, and levels."""
    size, sizes = 0, dict[str | None, int]()
    begun: list[tuple[str | None, int]] = []
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.CollectionEndEvent):
            anchor, before = begun.pop()
            sizes[anchor] = size - before
            continue
        mark: Any = event.start_mark
        if isinstance(event, yaml.CollectionStartEvent):
            begun.append((event.anchor, size))
            size += 1
        elif isinstance(event, yaml.ScalarEvent):
            size += 1
            sizes[event.anchor] = 1
        elif isinstance(event, yaml.AliasEvent):
            if any(event.anchor == anchor for anchor, _ in begun):
                raise TextError(f"the alias *{event.anchor} stands within what it names", _place(mark))
            size += sizes.get(event.anchor, 1)
        _require_within(size, len(begun), mark)


def _require_within(size: int, levels: int, mark: yaml.Mark) -> None:
    if size > MOST_VALUES:
        raise TextError(f"too large: {MOST_VALUES} values and keys are allowed, aliases followed", _place(mark))
    if levels > DEEPEST + 1:
        raise _too_deep(mark)


def _too_deep(mark: yaml.Mark) -> TextError:
    return TextError(f"nested too deeply; {DEEPEST} levels are allowed", _place(mark))


class _Reader:
    """Converts nodes to values, and collects positions and problems."""

    def __init__(self, document: Document) -> None:
        self._document = document

    def value(self, node: yaml.Node, path: Path) -> Any:
        if len(path) > DEEPEST:  # aliases nest what the text does not
            raise _too_deep(node.start_mark)
        self._document.values[path] = _place(node.start_mark)
        if isinstance(node, yaml.MappingNode) and node.tag == _STANDARD + "map":
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode) and node.tag == _STANDARD + "seq":
            return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]
        kind = node.tag.removeprefix(_STANDARD)
        if isinstance(node, yaml.ScalarNode) and kind == "str":
            return node.value
        if isinstance(node, yaml.ScalarNode) and kind in _SCALARS and _SCALARS[kind][0].fullmatch(node.value):
            return _SCALARS[kind][1](node.value)
        self._problem(path, node, f"the tag {node.tag.replace(_STANDARD, '!!')} has no meaning here; leave it out")
        return None  # the problem just noted comes before any that the check finds here

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self._problem(path, key_node, "the key must be a name, not a list or a mapping")
                continue
            key = key_node.value
            at = (*path, key)
            if key in values:
                line, column = self._document.keys[at]
                self._problem(at, key_node, f"given twice; first at line {line}, column {column}")
                continue
            self._document.keys[at] = _place(key_node.start_mark)
            values[key] = self.value(value_node, at)
        return values

    def _problem(self, path: Path, node: yaml.Node, message: str) -> None:
        line, column = _place(node.start_mark)
        self._document.problems.append(Problem(path=path_text(path), message=message, line=line, column=column))


def _place_of(text: str, position: int) -> Place:
    before = text[:position]
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def _place(mark: yaml.Mark) -> Place:
    return mark.line + 1, mark.column + 1
