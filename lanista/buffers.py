"""Names for the buffers of your own algorithms: `from lanista.buffers import Replay`."""

from workers.buffers.contract import Batch, Buffer, Draw
from workers.buffers.dataset import Dataset, from_columns, read, write
from workers.buffers.demonstrations import Demonstrations
from workers.buffers.fresh import Fresh
from workers.buffers.joint import JointReplay
from workers.buffers.mixture import Mixture
from workers.buffers.prioritised import Prioritised
from workers.buffers.replay import Replay
from workers.buffers.sequences import Sequences

__all__ = [
    "Batch",
    "Buffer",
    "Dataset",
    "Demonstrations",
    "Draw",
    "Fresh",
    "JointReplay",
    "Mixture",
    "Prioritised",
    "Replay",
    "Sequences",
    "from_columns",
    "read",
    "write",
]
