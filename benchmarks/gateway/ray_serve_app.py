"""The measured model as a Ray Serve deployment: one replica, batches of up to 64 or what a millisecond brings."""

from __future__ import annotations

import json
import logging
import sys
from typing import Any

import numpy as np
import ray
import torch
from ray import serve

INPUTS, ACTIONS = 32, 8
PORT = 8147


@serve.deployment(max_ongoing_requests=1024, ray_actor_options={"num_cpus": 0})
class Champion:
    """A perceptron of 128 x 128, as the gateway's."""

    def __init__(self) -> None:
        torch.set_num_threads(1)
        layers = [torch.nn.Linear(INPUTS, 128), torch.nn.ReLU(), torch.nn.Linear(128, 128), torch.nn.ReLU()]
        self.net = torch.nn.Sequential(*layers, torch.nn.Linear(128, ACTIONS))

    @serve.batch(max_batch_size=64, batch_wait_timeout_s=0.001)
    async def decide(self, bodies: list[bytes]) -> list[bytes]:
        rows = np.stack([np.frombuffer(body, np.float32) for body in bodies])
        with torch.inference_mode():
            logits = self.net(torch.from_numpy(rows))
            actions = torch.multinomial(torch.softmax(logits, 1), 1)[:, 0].tolist()
        return [bytes((action,)) for action in actions]

    async def __call__(self, request: Any) -> Any:
        from starlette.responses import Response

        body = await request.body()
        return Response(await self.decide(body) if request.headers["step_kind"] == "tick" else b"")


def main() -> None:
    ray.init(num_cpus=2, include_dashboard=False, logging_level=logging.ERROR, log_to_driver=False)
    serve.start(http_options={"host": "127.0.0.1", "port": PORT})
    serve.run(Champion.bind(), route_prefix="/")  # type: ignore[attr-defined]
    print(json.dumps({"port": PORT}), flush=True)
    sys.stdin.read()
    serve.shutdown()
    ray.shutdown()


if __name__ == "__main__":
    main()
