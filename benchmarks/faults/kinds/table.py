"""Every kind of fault by its name, with the ground that it needs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from benchmarks.faults.campaign.arena import Arena, Struck
from benchmarks.faults.kinds.clock_step import step_clock
from benchmarks.faults.kinds.cut_checkpoint import cut_checkpoint
from benchmarks.faults.kinds.full_disk import fill_disk
from benchmarks.faults.kinds.kills import kill, kill_several
from benchmarks.faults.kinds.network_cut import cut_network
from benchmarks.faults.kinds.outages import cut_postgres, fail_artifact_store
from benchmarks.faults.kinds.pauses import pause
from benchmarks.faults.kinds.second_delivery import deliver_twice
from benchmarks.faults.kinds.terminated_workflow import terminate_workflow
from benchmarks.faults.kinds.upgrade import upgrade
from benchmarks.faults.striking import KINDS as KILLED

Fault = Callable[[Arena], Struck]

FAULTS: dict[str, Fault] = {
    **{kind: partial(kill, kind=kind) for kind in KILLED},
    "several at once": kill_several,
    "pause": pause,
    "result delivered twice": deliver_twice,
    "workflow terminated": terminate_workflow,
    "full disk": fill_disk,
    "checkpoint cut short": cut_checkpoint,
    "artifact store failing": fail_artifact_store,
    "postgres cut off": cut_postgres,
    "clock step": step_clock,
    "network cut": cut_network,
    "upgrade": upgrade,
}
