"""List the measurements and how to run each. None of them is a test: they take minutes and need an idle machine."""

from __future__ import annotations

import ast
from pathlib import Path

HERE = Path(__file__).parent


def measurements(folder: Path = HERE) -> dict[str, str]:
    """Each module that can be run, with the first line of its docstring; nothing is imported."""
    found = {}
    paths = [*folder.glob("*.py"), *folder.glob("*/__main__.py")]
    paths += [path for room in _rooms(folder) for path in (folder / room).glob("*.py")]
    for path in sorted(paths, key=_name):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        name = _name(path)
        if name != "__main__" and (path.stem == "__main__" or _runs(tree)):
            found[name] = (ast.get_docstring(tree) or "").partition("\n")[0]
    return found


def _name(path: Path) -> str:
    """The name by which a module is run; a package's is its folder's."""
    return path.parent.name if path.stem == "__main__" and path.parent != HERE else path.stem


def _rooms(folder: Path) -> tuple[str, ...]:
    """`ROOMS` of the package's `__init__.py`."""
    for node in ast.parse((folder / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "ROOMS":
            return tuple(ast.literal_eval(node.value))
    raise ValueError(f"{folder}/__init__.py defines no ROOMS")


def _runs(tree: ast.Module) -> bool:
    """Whether the module has a block for being run: if __name__ == "__main__"."""
    return any(isinstance(node, ast.If) and "__main__" in ast.unparse(node.test) for node in tree.body)


def main() -> None:
    """Print the list."""
    found = measurements()
    print("Measurements, each with options of its own (--help):\n")
    for name, purpose in found.items():
        print(f"  .venv/bin/python -m {HERE.name}.{name}\n      {purpose}")


if __name__ == "__main__":
    main()
