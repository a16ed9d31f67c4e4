// Events as sentences.
import { whole, percent, fixed, words } from "./format.js";

const SENTENCES = {
  "trial.created": () => "The trial was made",
  "trial.status": (p) => `The trial went from ${p.from} to ${p.to}${p.reason ? `: ${p.reason}` : ""}`,
  "trial.forked": (p) => `Forked as ${p.name}`,
  "trial.archived": () => "Put away",
  "generation.recorded": (p) => `${p.player} finished generation ${p.generation}: ${whole(p.steps)} steps, ${whole(p.games)} games`,
  "version.recorded": (p) => `${p.player} has its first version (${p.origin})`,
  "player.snapshot": (p) => `${p.player} was frozen as ${p.snapshot}`,
  "player.reset": (p) => `${p.player} begins anew`,
  "player.rollback": (p) => `${p.player} went back to its last good version`,
  "player.added": (p) => `${p.player} joined`,
  "player.retired": (p) => `${p.player} retired${p.reason ? `: ${p.reason}` : ""}`,
  "player.retuned": (p) => `${p.player} was retuned`,
  "checkpoint.damaged": (p) => `${p.player}: a damaged checkpoint; ${p.problem}`,
  "evaluation.recorded": (p) => `${p.player} against ${p.target}: win rate ${percent(p.win_rate)} in ${p.games} games`,
  "gate.opened": (p) => `A gate for ${p.alias} was opened`,
  "gate.waiting": (p) => `The gate for ${p.alias} waits`,
  "gate.progress": (p) => `Gate for ${p.alias}: ${p.pairs} pairs, LLR ${fixed(p.llr)}`,
  "gate.finished": (p) => `Gate for ${p.alias}: ${p.status}${p.reason ? `, ${p.reason}` : ""}`,
  "alias.moved": (p) => `${p.alias} moved: ${p.reason}`,
  "ratings.fitted": () => "Ratings were fitted anew",
  "tournament.created": (p) => `Tournament ${p.name}: ${p.entrants} entrants, ${words(p.format)}`,
  "tournament.started": (p) => `Tournament ${p.name} begins`,
  "tournament.finished": (p) => `Tournament ${p.name}: ${p.status}${p.reason ? `, ${p.reason}` : ""}`,
  "tournament.withdrawn": (p) => `Tournament ${p.name}: ${p.entrant} withdrawn, ${p.reason}`,
  "tournament.judged": (p) => `A tournament was judged: ${p.reason}`,
  "pairing.played": (p) => `Tournament ${p.name}: ${p.first} against ${p.second}, ${p.wins}–${p.draws}–${p.losses}${repeated(p)}`,
};

/** A remark about games that are copies of each other: one from each seat, played over and over. */
function repeated(p) {
  return p.different_games <= 2 && p.wins + p.draws + p.losses > 2 ? ", one game repeated" : "";
}

/** One sentence; of a kind that is not known here, its name. */
export function sentence(event) {
  const known = SENTENCES[event.type];
  if (known) return known(event.payload);
  const [subject, verb] = event.type.split(".");
  return `${event.payload?.name ?? event.payload?.player ?? words(subject)}: ${words(verb ?? subject)}`;
}

/** How much an event matters: quiet, good, bad or plain. */
export function weight(event) {
  if (event.type === "checkpoint.damaged" || event.payload?.to === "failed") return "bad";
  if (["alias.moved", "player.snapshot", "gate.finished"].includes(event.type)) return "good";
  return "plain";
}

/** Events that only say how far something is: shown while it lasts, kept in no list. */
export const isPassing = (event) => ["gate.progress", "pairing.played", "progress"].includes(event.type);
