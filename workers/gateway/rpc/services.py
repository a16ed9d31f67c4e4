"""The services of one server: the project's own, and those of users."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from orchestrator.settings import SettingsError
from orchestrator.user_code.makers import described, makes
from workers.gateway.rpc.binding import RpcService
from workers.gateway.rpc.gamecore import GamecoreService
from workers.gateway.rpc.parameters import ParametersService
from workers.gateway.rpc.policies import Policies
from workers.gateway.rpc.policy import PolicyService
from workers.gateway.rpc.registry import ModelRegistry
from workers.gateway.rpc.replay import ReplayService
from workers.gateway.transports.front import Front


@dataclass(kw_only=True)
class ServiceContext:
    """What services of one server share; given to those of users when they are made."""

    front: Front | None = None
    """Takes steps of games; None in a server without a gateway."""
    registry: ModelRegistry | None = None
    """The league's records; None where no REST API is known."""
    parameters: bool = False
    """Whether callers may read and publish weights with the registry's rights: the service Parameters."""
    policies: Policies | None = field(init=False)
    """Versions that decide, by alias or id."""

    def __post_init__(self) -> None:
        self.policies = None if self.registry is None else Policies(self.registry)

    def close(self) -> None:
        """Follow no alias any more."""
        if self.policies is not None:
            self.policies.close()


def standard_services(context: ServiceContext, *, replay_memory: int, largest_message: int) -> list[RpcService]:
    """The services that the context suffices for."""
    services: list[RpcService] = []
    if context.front is not None:
        services.append(GamecoreService(context.front))
    if context.registry is not None and context.policies is not None:
        services.append(PolicyService(context.policies))
        if context.parameters:
            services.append(ParametersService(context.registry))
    if replay_memory:
        services.append(ReplayService(replay_memory, largest_message))
    return services


def own_services(names: Sequence[str], context: ServiceContext) -> list[RpcService]:
    """Services that users name by import path, `module:Class`; raises SettingsError."""
    return [_maker(name)(context) for name in names]


def _maker(name: str) -> Callable[[ServiceContext], RpcService]:
    module, colon, attribute = name.partition(":")
    if not colon or not module or not attribute.isidentifier():
        raise SettingsError(f"service {name!r}: write module:Class")
    try:
        target = getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError as error:
        if error.name is None or not module.startswith(error.name):
            raise  # the user's module imports what is missing: the traceback says where
        raise SettingsError(f"service {name!r}: there is no module {module!r} on the import path") from None
    except AttributeError:
        raise SettingsError(f"service {name!r}: {module} has no {attribute}") from None
    if not makes(target, RpcService):
        raise SettingsError(f"service {name!r} is {described(target)}; allowed: a subclass of lanista.rpc.Service")
    maker: Callable[[ServiceContext], RpcService] = target
    return maker
