"""A workflow whose module reads a stored trial when it is imported, as the sandbox does."""

from temporalio import workflow

from orchestrator.spec import TrialSpec

STORED = TrialSpec.model_validate({"game": {"id": "connect_four"}, "budget": {"wall_clock": "30m"}}).to_json()


@workflow.defn
class CarriesATrial:
    """Answers with the trial it carries."""

    @workflow.run
    async def run(self) -> str:
        return TrialSpec.model_validate(STORED).game.id
