// Champions of compared trials against each other: recorded games, and a tournament that is started here.
import { hasScope, post } from "../core/api.js";
import { h } from "../core/dom.js";
import { percent } from "../core/format.js";
import { championGames } from "./comparison.js";
import { toast } from "./dialog.js";
import { badge, bar, table } from "./widgets.js";

export function champions(compared, held, context) {
  const rows = championGames(compared);
  return [
    rows.length
      ? table(
          "Champions against each other",
          [
            ["Trial", (row) => trialLink(row.first)],
            ["Against", (row) => trialLink(row.second)],
            ["Won", (row) => row.wins, "number"],
            ["Drawn", (row) => row.draws, "number"],
            ["Lost", (row) => row.losses, "number"],
            ["Score", (row) => `${percent(row.score)} (${percent(row.low)} to ${percent(row.high)})`, "number"],
            [
              "",
              (row) =>
                h(
                  "a",
                  { href: `/versions/${row.first.champion_version_id}/against/${row.second.champion_version_id}` },
                  "by seat and opening",
                ),
            ],
          ],
          rows,
          (row) => `${row.first.id} ${row.second.id}`,
        )
      : h("p", { class: "quiet" }, "Their champions have not met in rating games."),
    h("p", { class: "quiet" }, "For each trial plays a version of its own, the one named in the table above."),
    held && underWay(held),
    hasScope("operator") && playForm(compared, held, context),
  ];
}

const trialLink = ({ id, label }) => h("a", { href: `/trials/${id}` }, label);

function underWay(held) {
  const link = h("a", { href: `/tournaments/${held.id}` }, `Tournament ${held.name}`);
  if (held.finished_at)
    return h("p", { role: "status" }, link, " ", badge(held.status), held.status_reason ? ` ${held.status_reason}` : "");
  return h(
    "div",
    { role: "status" },
    h("p", {}, link, ` is being played: ${held.pairings_played} of ${held.pairings_known} pairings.`),
    bar(held.pairings_played, held.pairings_known || 1, "Pairings played"),
  );
}

/** A tournament between the champions, where they are of one project and game. */
function playForm({ trials }, held, context) {
  const entrants = [...new Set(trials.map((trial) => trial.champion_version_id).filter(Boolean))];
  const [project, ...others] = new Set(trials.map((trial) => trial.label.split("/")[0]));
  if (entrants.length < 2) return h("p", { class: "quiet" }, "A tournament needs two champions that are not the same version.");
  if (others.length || new Set(trials.map((trial) => trial.game)).size > 1)
    return h("p", { class: "quiet" }, "A tournament needs trials of one project and one game.");
  if (held && !held.finished_at) return null;
  return h(
    "form",
    {
      class: "row",
      onsubmit: async (event) => {
        event.preventDefault();
        const games = Number(new FormData(event.target).get("games"));
        const spec = {
          trial: trials[0].label.split("/")[1],
          name: "compare",
          format: "round_robin",
          entrants: entrants.map((id) => `version:${id}`),
          games,
        };
        try {
          const made = await post("/tournaments", { project, spec });
          await context.setQuery({ tournament: made.id });
        } catch (problem) {
          toast(problem.message, "bad");
        }
      },
    },
    h(
      "label",
      { class: "pick" },
      "Games of each two ",
      h("input", { type: "number", name: "games", min: 2, max: 1000, step: 2, value: 100 }),
    ),
    h("button", { type: "submit" }, "Let the champions play"),
  );
}
