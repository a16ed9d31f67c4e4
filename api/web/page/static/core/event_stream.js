// The event stream (SSE): of the trial on display, with progress, else of all trials.
// It is read with fetch and not with EventSource, which cannot send the session's CSRF token.
import { credentials } from "./api.js";

const KEPT = 80;
const ASKED = 200; // more than are kept, because transient events are dropped
const RETRY_MS = 1000;
const SILENT_MS = 35_000; // an idle stream sends a comment every 10 s: after this it is dead, whatever the browser believes
let stream = null; // the AbortController of the stream under way
let following = null;
let recent = [];

/** Recent events of the stream, newest first. */
export const recentEvents = () => recent;

/** Follow a trial, or all with null; `onConnection` is called with true when the stream opens and false when it breaks. */
export function follow(trialId, { onEvent, onConnection }) {
  const wanted = trialId ?? "all";
  if (stream && following === wanted) return;
  stopFollowing();
  following = wanted;
  stream = new AbortController();
  // frames without an event name: the event's type is in its data
  const address = trialId ? `/api/v1/trials/${trialId}/events?named=false&brief=true&newest=${ASKED}` : "/api/v1/events?named=false";
  const hear = (data) => receive(JSON.parse(data), onEvent);
  keepReading(address, stream, hear, onConnection);
}

function receive(event, onEvent) {
  if (!event.transient) recent = [event, ...recent].slice(0, KEPT);
  onEvent(event);
}

export function stopFollowing() {
  stream?.abort();
  stream = following = null;
  recent = [];
}

/** Read the stream until it is aborted; after a break, go on behind the last event that arrived. */
async function keepReading(address, owner, hear, onConnection) {
  const position = { id: null };
  while (!owner.signal.aborted) {
    const over = await readOnce(address, position, owner.signal, hear, onConnection).catch(() => false);
    if (owner.signal.aborted) return;
    onConnection(false);
    if (over) {
      if (stream === owner) stream = null; // the next page that is shown begins again
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

/** One connection; true if the API refused it for good. */
async function readOnce(address, position, signal, hear, onConnection) {
  const headers = { ...credentials(), ...(position.id && { "Last-Event-ID": position.id }) };
  const answer = await fetch(address, { headers, signal, cache: "no-store" });
  if (!answer.ok) return answer.status < 500 && answer.status !== 429;
  onConnection(true);
  const text = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await within(SILENT_MS, text);
    if (done) return false;
    const frames = (rest + value).split("\n\n");
    rest = frames.pop();
    for (const frame of frames) readFrame(frame, position, hear);
  }
}

/** The next piece of the stream; after a silence the stream counts as ended. */
async function within(milliseconds, reader) {
  let timer;
  const silence = new Promise((resolve) => {
    timer = setTimeout(resolve, milliseconds, { done: true });
  });
  const piece = await Promise.race([reader.read(), silence]).finally(() => clearTimeout(timer));
  if (piece.done) reader.cancel().catch(() => {});
  return piece;
}

function readFrame(frame, position, hear) {
  for (const line of frame.split("\n")) {
    if (line.startsWith("id: ")) position.id = line.slice(4);
    if (line.startsWith("data: ")) hear(line.slice(6));
  }
}
