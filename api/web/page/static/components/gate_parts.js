// What a candidate must pass beside the champion: the gate's panel and its probe.
import { h } from "../core/dom.js";
import { fixed, humanize, whole } from "../core/format.js";
import { table } from "./widgets.js";

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
