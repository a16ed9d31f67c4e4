// The event stream (SSE): of the trial on display, with progress, else of all trials.
const KEPT = 80;
const ASKED = 400; // more than are kept, because transient events are dropped
let source = null;
let following = null;
let recent = [];

/** Recent events of the stream, newest first. */
export const recentEvents = () => recent;

/** Follow a trial, or all with null; `onConnection` is called with true when the stream opens and false when it breaks. */
export function follow(trialId, { onEvent, onConnection }) {
  const wanted = trialId ?? "all";
  if (source && following === wanted && source.readyState !== EventSource.CLOSED) return;
  stopFollowing();
  following = wanted;
  // frames without an event name all arrive at onmessage
  source = new EventSource(trialId ? `/api/v1/trials/${trialId}/events?named=false&newest=${ASKED}` : "/api/v1/events?named=false");
  source.onopen = () => onConnection(true);
  source.onerror = () => onConnection(false); // the browser reconnects
  source.onmessage = (message) => receive(JSON.parse(message.data), onEvent);
}

function receive(event, onEvent) {
  if (!event.transient) recent = [event, ...recent].slice(0, KEPT);
  onEvent(event);
}

export function stopFollowing() {
  source?.close();
  source = following = null;
  recent = [];
}
