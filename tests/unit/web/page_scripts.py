"""Runs modules of the page without a browser, in the Node.js that Playwright brings along."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import playwright

STATIC = Path(__file__).parents[3] / "api/web/page/static"
NODE = Path(playwright.__file__).parent / "driver" / "node"


def evaluated(folder: Path, body: str) -> Any:
    """What the body of an asynchronous function returns; it imports the page's modules from `./page/`."""
    (folder / "package.json").write_text('{"type": "module"}')  # else Node.js reads them as CommonJS
    shutil.copytree(STATIC, folder / "page", dirs_exist_ok=True)
    script = folder / "script.js"
    script.write_text(f"const main = async () => {{{body}}};\nconsole.log(JSON.stringify(await main()));\n")
    run = subprocess.run([NODE, script], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)
