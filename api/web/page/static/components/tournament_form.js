// The form fields of a tournament, for starting one and for schedules.
import { h } from "../core/dom.js";

const FORMATS = [
  ["round_robin", "round robin: every entrant plays every other"],
  ["swiss", "Swiss: entrants with similar scores meet"],
  ["knockout", "knockout: losers are eliminated"],
  ["gauntlet", "gauntlet: challengers play the field"],
  ["adaptive", "adaptive: the most informative pairings"],
];
const ENTRANTS = "latest, snapshots, bots";

const field = (label, control, hint) =>
  h("div", { class: "field" }, h("label", { for: control.id }, label), control, hint && h("small", {}, hint));

/** The fields, with defaults from the query of the URL, or as a person left them (`saved`). */
export function tournamentFields(trials, query, saved = {}) {
  const chosen =
    trials.find((trial) => trial.name === query.trial && trial.project === query.project) ??
    trials.find((trial) => trial.id === saved.trial) ??
    trials[0];
  return [
    field(
      "Trial",
      h(
        "select",
        { id: "trial", name: "trial", required: true, value: chosen?.id },
        trials.map((trial) => h("option", { value: trial.id, selected: trial === chosen }, `${trial.project} / ${trial.name}`)),
      ),
    ),
    field(
      "Name",
      h("input", { id: "name", name: "name", value: saved.name ?? "tournament", required: true, pattern: "[a-z0-9][a-z0-9\\-]{0,62}" }),
      "lower-case letters, digits and hyphens",
    ),
    field(
      "Format",
      h(
        "select",
        { id: "format", name: "format", value: saved.format ?? "round_robin" },
        FORMATS.map(([value, text]) => h("option", { value, selected: value === (saved.format ?? "round_robin") }, text)),
      ),
    ),
    field(
      "Entrants",
      h("input", { id: "entrants", name: "entrants", value: saved.entrants ?? ENTRANTS, required: true }),
      "comma-separated rules: latest, snapshots, bots, every:5/main, alias:champion, bot:random, version:<id>",
    ),
    field(
      "Challengers",
      h("input", { id: "challengers", name: "challengers", value: saved.challengers ?? "" }),
      "gauntlet only: entrants that play all others",
    ),
    field(
      "Games per pairing",
      h("input", { id: "games", name: "games", type: "number", min: 2, max: 1000, step: 2, value: saved.games ?? 20 }),
    ),
  ];
}

const rules = (text) =>
  text
    .split(",")
    .map((rule) => rule.trim())
    .filter(Boolean);

/** The request of the API: the project and the spec of the tournament. */
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
