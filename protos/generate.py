"""Writes the Python code of the .proto files: `python protos/generate.py`. Needs grpcio-tools (the extra `test`)."""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

PROTOS = Path(__file__).parent
TARGET = PROTOS.parent / "workers" / "gateway" / "rpc" / "generated"
PACKAGE = "workers.gateway.rpc.generated"


def generate() -> dict[str, str]:
    """The text of each generated file by its name."""
    import grpc_tools
    from grpc_tools import protoc

    sources = sorted(str(path) for path in (PROTOS / "lanista" / "v1").glob("*.proto"))
    with tempfile.TemporaryDirectory() as folder:
        outputs = [f"--{kind}_out={folder}" for kind in ("python", "pyi", "grpc_python")]
        included = Path(grpc_tools.__file__).parent / "_proto"
        status = protoc.main(["protoc", f"-I{PROTOS}", f"-I{included}", *outputs, *sources])
        if status:
            raise SystemExit(f"protoc failed with status {status}; its words are above")
        made = sorted((Path(folder) / "lanista" / "v1").iterdir())
        return {path.name: _moved(path.read_text(encoding="utf-8")) for path in made if not _empty(path)}


def _empty(path: Path) -> bool:
    """Whether it is the services' file of a .proto file that has none."""
    return path.name.endswith("_pb2_grpc.py") and "Servicer" not in path.read_text(encoding="utf-8")


def _moved(text: str) -> str:
    """Imports from the package that the files are kept in, and not from one named after the .proto package."""
    return re.sub(r"^from lanista\.v1 import", f"from {PACKAGE} import", text, flags=re.M)


def main() -> None:
    """Write the files, and remove those whose source is gone."""
    files = generate()
    TARGET.mkdir(parents=True, exist_ok=True)
    for path in TARGET.glob("*_pb2*"):
        if path.name not in files:
            path.unlink()
    for name, text in files.items():
        (TARGET / name).write_text(text, encoding="utf-8")
    sys.stdout.write(f"{len(files)} files in {TARGET.relative_to(PROTOS.parent)}\n")


if __name__ == "__main__":
    main()
