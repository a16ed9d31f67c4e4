// Finds the names in the sentence of an event, with the pages that they lead to. Pure functions.
import { versionName } from "./format.js";

/** [field of the name, field of the id, page, field of its trial where that is another one]: what payloads call what they name. */
const NAMED = [
  ["player", "player_id", "players"],
  ["snapshot", "snapshot_player_id", "players"],
  ["donor", "donor_id", "players"],
  ["donor_version", "donor_version_id", "versions"],
  ["to_version", "to_version_id", "versions"],
  ["from_version", "from_version_id", "versions", "from_trial"],
  ["candidate", "candidate_version_id", "versions"],
  ["champion", "champion_version_id", "versions", "champion_trial"],
  ["entrant", "version_id", "versions"],
  ["tournament", "tournament_id", "tournaments"],
];
/** Kinds whose `name` is that of the thing itself: [field of its id, page]. */
const OWN_NAME = [
  [/^(tournament|pairing)\./, "tournament_id", "tournaments"],
  [/^sweep\./, "sweep_id", "sweeps"],
];

/** The names that an event's payload knows, with their addresses; `players` are those of its trial. */
export function namesOf({ type = "", payload = {}, trial_id: trial }, players = []) {
  const of = (page, id) => id && `/${page}/${id}`;
  const own = OWN_NAME.find(([kinds]) => kinds.test(type));
  const found = [
    ...players.map((player) => [player.name, of("players", player.id)]),
    ...NAMED.map(([name, id, page, home]) => (payload[home] ? null : [payload[name], of(page, payload[id])])),
    [payload.of_trial, of("trials", payload.of_trial_id)],
    elsewhere(payload.champion, payload.champion_version_id, payload.champion_trial, payload.champion_trial_id),
    elsewhere(payload.from_version, payload.from_version_id, payload.from_trial, payload.from_trial_id),
    own && [payload.name, of(own[2], payload[own[1]])],
    ...namesOfTrials(type, payload, of("trials", trial)),
    [payload.alias && `Gate for ${payload.alias}`, trial && payload.gate_id && `/trials/${trial}/promotions?gate=${payload.gate_id}`],
    [payload.generation && `generation ${payload.generation}`, of("versions", payload.version_id)],
  ];
  return new Map(found.filter((pair) => pair?.[0] && pair[1]));
}

/** Events with the moves of the shared champion that are events of other trials, newest first. */
export function withMoves(events, moves = []) {
  const told = moves.map((move) => ({
    type: "alias.moved",
    level: "info",
    created_at: move.at,
    text: `${move.alias} is now ${moveName(move)} of ${move.trial}: ${move.reason}`,
    payload: { of_trial_id: move.trial_id, of_trial: move.trial, to_version: moveName(move), to_version_id: move.version_id },
  }));
  return told.length ? [...events, ...told].sort((one, other) => new Date(other.created_at) - new Date(one.created_at)) : events;
}

/** "main-4 of lagoon" as one name, of two links: a player of the trial itself may have the same name. */
function elsewhere(version, id, trial, trialId) {
  if (!version || !trial) return null;
  const links = [{ name: version, href: `/versions/${id}` }, " of ", { name: trial, href: `/trials/${trialId}` }];
  return [`${version} of ${trial}`, links];
}

const moveName = ({ player, number }) => versionName(player, number);

function namesOfTrials(type, { name, trial_name: judged, forked }, here) {
  return [
    [type.startsWith("schedule.") && name, "/schedules"],
    [type === "trial.created" && name, here],
    [type === "sweep.judged" && judged, here],
    [type === "trial.forked" && name, forked?.to_trial_id && `/trials/${forked.to_trial_id}`],
    [forked?.from, forked?.from_trial_id && `/trials/${forked.from_trial_id}`],
  ];
}

/** The sentence in pieces: strings, and `{ name, href }` for each name in it. */
export function linkedPieces(text, names) {
  const known = [...names.keys()].filter(Boolean).sort((one, other) => other.length - one.length);
  if (!known.length) return [text];
  const escaped = known.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  // a whole name: `main` is no part of `main-1`, of `main.2` or of `remain`, but may end a sentence
  const whole = new RegExp(`(?<![\\w.-])(${escaped.join("|")})(?![\\w-]|\\.\\w)`, "g");
  const pieces = [];
  let end = 0;
  for (const found of text.matchAll(whole)) {
    if (found.index > end) pieces.push(text.slice(end, found.index));
    const link = names.get(found[1]);
    pieces.push(...(Array.isArray(link) ? link : [{ name: found[1], href: link }]));
    end = found.index + found[1].length;
  }
  if (end < text.length) pieces.push(text.slice(end));
  return pieces;
}
