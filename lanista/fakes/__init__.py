"""Stand-ins for the parts of a game that calls in, so that each part can be developed alone.

| part | stands in for | lets one develop |
| --- | --- | --- |
| `agent` | gateway, agent and model | the game |
| `gamecore` | games, by the thousand | agents and gateways, and measure them |
| `model` | the model, behind a real gateway and agent | the agent |
| `buffer` | the experience of a game | the model and the algorithm |
"""
