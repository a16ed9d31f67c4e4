// One connection for all events: of the trial that is looked at (with progress), else of everything.
const KEPT = 80;
const ASKED = 400; // more than are kept: transient ones are not
let source = null;
let following = null;
let recent = [];

/** What happened lately to what is followed, the newest first. */
export const recentEvents = () => recent;

/** Follow a trial, or everything with null; `hear` gets each event, `state` whether the line stands. */
export function follow(trialId, { hear, state }) {
  const wanted = trialId ?? "all";
  if (source && following === wanted && source.readyState !== EventSource.CLOSED) return;
  stopFollowing();
  following = wanted;
  // unnamed frames reach onmessage whatever their kind
  source = new EventSource(trialId ? `/api/v1/trials/${trialId}/events?named=false&newest=${ASKED}` : "/api/v1/events?named=false");
  source.onopen = () => state(true);
  source.onerror = () => state(false); // the browser tries again by itself
  source.onmessage = (message) => receive(JSON.parse(message.data), hear);
}

function receive(event, hear) {
  if (!event.transient) recent = [event, ...recent].slice(0, KEPT);
  hear(event);
}

export function stopFollowing() {
  source?.close();
  source = following = null;
  recent = [];
}
