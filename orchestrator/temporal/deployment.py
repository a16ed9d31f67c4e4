"""Worker deployments: which build of the workers gets the tasks, so that two builds can run side by side.

See docs/decisions/temporal.md.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from importlib.metadata import version

import structlog
from temporalio.api.deployment.v1 import WorkerDeploymentInfo
from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import (
    DescribeTaskQueueRequest,
    DescribeWorkerDeploymentRequest,
    SetWorkerDeploymentCurrentVersionRequest,
)
from temporalio.client import Client
from temporalio.common import VersioningBehavior, WorkerDeploymentVersion
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import WorkerDeploymentConfig

from orchestrator.contracts.queues import Queue
from orchestrator.settings import SettingsError, TemporalSettings

log = structlog.get_logger()

SETTING = "LANISTA_TEMPORAL_DEPLOYMENT"
PATIENCE = 60.0
"""Seconds until a process that cannot make its build the current one gives up: its first pollers take one or two."""
RETRY_SECONDS = 0.5
_ROLES: dict[str, tuple[tuple[Queue, TaskQueueType.ValueType], ...]] = {
    "store": (
        (Queue.LEAGUE, TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW),
        (Queue.STORE, TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY),
    ),
    "train": tuple(
        (queue, TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY) for queue in (Queue.TRAIN, Queue.PLAY, Queue.INTERACTIVE)
    ),
}
_NOT_YET = {RPCStatusCode.NOT_FOUND, RPCStatusCode.FAILED_PRECONDITION, RPCStatusCode.UNAVAILABLE}
"""Before the first poll has reached the server, or while another process changes the deployment."""


class NotPromoted(Exception):
    """A build could not be made the current one; the message says why and what to do."""


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """The workers of one role, and the build that this process is."""

    name: str
    build_id: str

    @classmethod
    def of(cls, settings: TemporalSettings, role: str) -> Deployment | None:
        """None where tasks go to any worker."""
        if not settings.temporal_deployment:
            return None
        return cls(
            name=f"{settings.temporal_deployment}-{role}", build_id=settings.temporal_build_id or version("lanista")
        )

    def config(self, *, workflows: bool = False) -> WorkerDeploymentConfig:
        """For a worker. A workflow goes on under the newest build: patches keep it deterministic."""
        behaviour = VersioningBehavior.AUTO_UPGRADE if workflows else VersioningBehavior.UNSPECIFIED
        return WorkerDeploymentConfig(
            version=WorkerDeploymentVersion(deployment_name=self.name, build_id=self.build_id),
            use_worker_versioning=True,
            default_versioning_behavior=behaviour,
        )


async def settle(client: Client, settings: TemporalSettings, role: str) -> None:
    """See to it, once the workers of this process poll, that the role's tasks go somewhere.

    With a deployment: this build becomes the current one if there is none yet, or if the settings say so. Without
    one: raises SettingsError where the server would give the tasks to a build alone, of which this process is none.
    """
    deployment = Deployment.of(settings, role)
    if deployment is None:
        await _leave_deployments(client, settings, role)
        return
    described = await _wait_until_known(client, deployment)
    current = described.routing_config.current_deployment_version.build_id
    if current == deployment.build_id:
        return
    if current and not settings.temporal_promote:
        log.warning(
            "another build gets the tasks; `lanista worker promote` changes that",
            role=role,
            deployment=deployment.name,
            build=deployment.build_id,
            current=current,
        )
        return
    await promote(client, deployment)


async def promote(client: Client, deployment: Deployment, *, patience: float = PATIENCE) -> None:
    """Make the build the current one: its workers get all new tasks. Raises NotPromoted."""
    await _set_current(client, deployment.name, deployment.build_id, patience)
    log.info("this build gets the tasks", deployment=deployment.name, build=deployment.build_id)


async def withdraw(client: Client, name: str, *, patience: float = PATIENCE) -> None:
    """Give the tasks to workers without a deployment. Raises NotPromoted."""
    await _set_current(client, name, "", patience)
    log.info("workers without a deployment get the tasks", deployment=name)


async def _set_current(client: Client, name: str, build_id: str, patience: float) -> None:
    deadline = time.monotonic() + patience
    order = SetWorkerDeploymentCurrentVersionRequest(
        namespace=client.namespace, deployment_name=name, build_id=build_id, identity=client.identity
    )
    while True:
        try:
            await client.workflow_service.set_worker_deployment_current_version(order)
            return
        except RPCError as error:
            if error.status not in _NOT_YET or time.monotonic() > deadline:
                raise NotPromoted(_explain(name, build_id, error)) from None
        await asyncio.sleep(RETRY_SECONDS)


def _explain(name: str, build_id: str, error: RPCError) -> str:
    what = f"build {build_id!r} of the deployment {name!r}" if build_id else f"no build of the deployment {name!r}"
    if error.status in (RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNIMPLEMENTED):
        advice = f"unset {SETTING}, or let somebody who may set it"
    elif error.status is RPCStatusCode.NOT_FOUND:
        advice = "no worker of it polls: start one first, and compare the build ids"
    else:
        advice = "start a worker for every queue of this build first"
    return (
        f"{SETTING}: {what} could not be made the current one, and tasks wait until one is: {advice}. "
        f"The server says {error.status.name}: {error.message}"
    )


async def _wait_until_known(client: Client, deployment: Deployment) -> WorkerDeploymentInfo:
    """The deployment, once the server has seen a poll of this build."""
    deadline = time.monotonic() + PATIENCE
    request = DescribeWorkerDeploymentRequest(namespace=client.namespace, deployment_name=deployment.name)
    while True:
        try:
            found = (await client.workflow_service.describe_worker_deployment(request)).worker_deployment_info
            builds = {each.deployment_version.build_id for each in found.version_summaries}
            if deployment.build_id in builds:
                return found
            problem = "the server has seen no poll of this build"
        except RPCError as error:
            if error.status not in _NOT_YET:
                raise NotPromoted(_explain(deployment.name, deployment.build_id, error)) from None
            problem = error.message
        if time.monotonic() > deadline:
            raise NotPromoted(
                f"{SETTING}: {deployment.name} is not known to the server after {PATIENCE:g} s: {problem}"
            )
        await asyncio.sleep(RETRY_SECONDS)


async def _leave_deployments(client: Client, settings: TemporalSettings, role: str) -> None:
    for queue, kind in _ROLES[role]:
        request = DescribeTaskQueueRequest(
            namespace=client.namespace, task_queue=TaskQueue(name=queue), task_queue_type=kind
        )
        try:
            found = await client.workflow_service.describe_task_queue(request)
        except RPCError as error:  # a server that does not tell has no need of a deployment either
            log.info("the queue cannot be described", queue=queue, problem=error.message)
            continue
        current = found.versioning_info.current_deployment_version
        if not current.build_id:
            continue
        if settings.temporal_promote:
            await withdraw(client, current.deployment_name)
            continue
        name = current.deployment_name.removesuffix(f"-{role}")
        raise SettingsError(
            f"{SETTING}: not set, but the tasks of the queue {queue} go only to build {current.build_id!r} of the "
            f"deployment {current.deployment_name!r}. Set it to {name!r}, or run `lanista worker promote {role} "
            f"--nothing --deployment {name}`"
        )
