// One connection for all events: of the trial that is looked at (with progress), else of everything.
import { isPassing } from "./event_sentences.js";

const KINDS = [
  "trial.created",
  "trial.status",
  "trial.forked",
  "trial.archived",
  "generation.recorded",
  "version.recorded",
  "player.snapshot",
  "player.reset",
  "player.rollback",
  "player.added",
  "player.retired",
  "player.retuned",
  "checkpoint.damaged",
  "evaluation.recorded",
  "gate.opened",
  "gate.waiting",
  "gate.progress",
  "gate.finished",
  "alias.moved",
  "ratings.fitted",
  "tournament.created",
  "tournament.started",
  "tournament.finished",
  "tournament.judged",
  "tournament.withdrawn",
  "pairing.played",
  "schedule.failed",
  "schedule.created",
  "schedule.changed",
  "schedule.deleted",
  "progress",
];

const KEPT = 80;
const ASKED = 400; // more than are kept, for those that pass are not
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
  source = new EventSource(trialId ? `/api/v1/trials/${trialId}/events?newest=${ASKED}` : "/api/v1/events");
  source.onopen = () => state(true);
  source.onerror = () => state(false); // the browser tries again by itself
  for (const kind of KINDS) source.addEventListener(kind, (message) => came(JSON.parse(message.data), hear));
}

function came(event, hear) {
  if (!isPassing(event)) recent = [event, ...recent].slice(0, KEPT);
  hear(event);
}

export function stopFollowing() {
  source?.close();
  source = following = null;
  recent = [];
}
