import pytest
from api.store.auditing import audit
from tests.integration.tournaments.hall import Hall, graded
pytestmark = pytest.mark.asyncio(loop_scope="module")
async def test_audit(hall, temporal):
    ts=[hall.make(entrants=graded(5), games=4, **o) for o in ({"format": "swiss", "rounds": 3},{"format": "knockout", "batches": 1},{"format": "adaptive", "rounds": 3, "pairings_per_round": 2})]
    await hall.hold(temporal, *ts)
    report=audit(hall.engine, hall.artifacts)
    print(report.counts)
    assert report.findings==()
