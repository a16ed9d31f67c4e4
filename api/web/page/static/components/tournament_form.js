// The fields of a tournament, for holding one now and for schedules.
import { h } from "../core/dom.js";

const FORMATS = [
  ["round_robin", "round robin: everybody meets everybody"],
  ["swiss", "Swiss: rounds of equals"],
  ["knockout", "knockout: losers leave"],
  ["gauntlet", "gauntlet: challengers meet the field"],
  ["adaptive", "adaptive: the most telling pairings"],
];
const ENTRANTS = "latest, snapshots, bots";

const field = (label, control, hint) =>
  h("div", { class: "field" }, h("label", { for: control.id }, label), control, hint && h("small", {}, hint));

/** The fields, filled from an address's query. */
export function tournamentFields(trials, query) {
  const chosen = trials.find((trial) => trial.name === query.trial && trial.project === query.project) ?? trials[0];
  return [
    field(
      "Trial whose league takes part",
      h(
        "select",
        { id: "trial", name: "trial", required: true, value: chosen?.id },
        trials.map((trial) => h("option", { value: trial.id, selected: trial === chosen }, `${trial.project} / ${trial.name}`)),
      ),
    ),
    field(
      "Name",
      h("input", { id: "name", name: "name", value: "tournament", required: true, pattern: "[a-z0-9][a-z0-9\\-]{0,62}" }),
      "small letters, digits and hyphens",
    ),
    field(
      "Format",
      h(
        "select",
        { id: "format", name: "format", value: "round_robin" },
        FORMATS.map(([value, text]) => h("option", { value }, text)),
      ),
    ),
    field(
      "Entrants",
      h("input", { id: "entrants", name: "entrants", value: ENTRANTS, required: true }),
      "rules with commas between: latest, snapshots, bots, every:5/main, alias:champion, bot:random, version:<id>",
    ),
    field("Challengers", h("input", { id: "challengers", name: "challengers" }), "gauntlet only: those who meet everyone else"),
    field("Games of one pairing", h("input", { id: "games", name: "games", type: "number", min: 2, max: 1000, step: 2, value: 20 })),
  ];
}

const rules = (text) =>
  text
    .split(",")
    .map((rule) => rule.trim())
    .filter(Boolean);

/** What the API takes: the project, and the tournament's spec. */
export function tournamentOf(values, trials) {
  const trial = trials.find((each) => each.id === values.trial);
  const challengers = rules(values.challengers ?? "");
  return {
    project: trial.project,
    spec: {
      trial: trial.name,
      name: values.name,
      format: values.format,
      entrants: rules(values.entrants),
      games: Number(values.games),
      ...(challengers.length ? { challengers } : {}),
    },
  };
}
