// What a candidate must pass beside the champion: the gate's panel and its probe.
import { h } from "../core/dom.js";
import { fixed, gateReason, humanize, whole } from "../core/format.js";
import { badge, ofTrial, table, time } from "./widgets.js";

/** Whether the candidate is worse than the champion against each member of the gate's panel. */
export function panelTable(members) {
  return table(
    "Panel: candidate and champion against the same opponents",
    [
      ["Opponent", (member) => member.name, "long"],
      ["Candidate", (member) => humanize(member.status)],
      ["Pairs by score", (member) => member.counts.map(whole).join(", ")],
      ["LLR", (member) => fixed(member.llr), "number"],
      ["Bounds", (member) => `${fixed(member.lower)} not worse, ${fixed(member.upper)} worse`],
    ],
    members,
    (member) => member.name,
  );
}

/** How exploitable the candidate may be, and where its probes are. */
export function probeFacts(gate) {
  const { limit, margin, responders, steps } = gate.settings.probe;
  const rules = [
    limit === null ? null : `refused above ${fixed(limit, 2)}`,
    margin === null ? null : `refused ${margin ? `${fixed(margin, 2)} ` : ""}above the champion`,
  ].filter(Boolean);
  return h(
    "p",
    {},
    `${whole(responders)} fresh responders of ${whole(steps)} steps learn to beat the candidate: `,
    rules.length ? rules.join(", ") : "only recorded",
    ". ",
    h("a", { href: `/trials/${gate.trial_id}/probes` }, gate.status === "running" ? "The gate waits for its probes" : "Probes"),
  );
}

/** The gate that moved an alias, in the trial that it belongs to: that of the version that won it. */
export function gateLink(move, trial, strangers) {
  const winner = strangers.get(move.to_version_id);
  if (!winner || winner.trial_id === trial.id) return h("a", { href: `?gate=${move.gate_id}` }, "gate");
  return [h("a", { href: `/trials/${winner.trial_id}/promotions?gate=${move.gate_id}` }, "gate"), ofTrial(winner.trial_id, winner.trial)];
}

/** Whose evidence is shown, where it is not that of a gate of this trial. */
export function gateNote(gate, trial, home) {
  if (gate.missing) return h("p", { class: "warning", key: "whose", role: "status" }, `The gate could not be read: ${gate.missing}`);
  if (gate.trial_id === trial.id) return null;
  return h(
    "p",
    { class: "warning", key: "whose", role: "status" },
    "The gate below is not of this trial but",
    ofTrial(gate.trial_id, home),
    ".",
  );
}

/** The moves of an alias; `name` links a version. */
export const historyTable = (alias, trial, name, strangers) =>
  table(
    `History of ${alias.name}`,
    [
      ["When", (move) => time(move.created_at)],
      ["Holder", (move) => name(move.to_version_id)],
      ["Previous", (move) => name(move.from_version_id)],
      ["How", (move) => badge(move.move)],
      ["Reason", (move) => gateReason(move.reason), "long"],
      ["By", (move) => (move.gate_id ? "its gate" : move.tournament_id ? "a tournament" : move.actor)],
      [
        "Gate",
        (move) =>
          move.gate_id
            ? gateLink(move, trial, strangers)
            : move.tournament_id
              ? h("a", { href: `/tournaments/${move.tournament_id}` }, "tournament")
              : "–",
      ],
    ],
    alias.moves,
    (move) => move.revision,
  );
