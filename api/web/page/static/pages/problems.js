// What went wrong in a trial, or for one of its players: every failed attempt with its cost.
import { get, getAll } from "../core/api.js";
import { h } from "../core/dom.js";
import { failureSummary, failureTable } from "../components/failure_list.js";
import { troubleStrip } from "../components/now_row.js";
import { trialFrame } from "../components/trial_frame.js";
import { LEARNS } from "../components/trial_facts.js";
import { card, orProblem, pick, problemWith } from "../components/widgets.js";
import { part, problemOf } from "../core/parts.js";
import { stateOfTrial } from "../core/tab.js";

const SHOWN = 200;
export const title = ({ trial }) => `Problems of ${trial.name}`;
export const trialOf = (context) => context.parameters.trial;
export const onEvent = (event) => event.type !== "progress" && event.level === "bad";
export const stateOf = ({ trial, now }) => stateOfTrial(trial, now?.troubles);

export async function load({ parameters, query }) {
  const root = `/trials/${parameters.trial}`;
  const [trial, now, players, failures] = await Promise.all([
    get(root),
    part(get(`${root}/progress`), { troubles: [] }),
    part(getAll(`${root}/players`)),
    part(getAll(`${root}/failures`, { player_id: query.player, limit: 100 }, { maximum: SHOWN })),
  ]);
  return { trial, now, players, failures };
}

export function view({ trial, now, players, failures }, context) {
  const chosen = context.query.player ?? "";
  const learning = players.filter((player) => LEARNS.includes(player.role) || player.id === chosen);
  return trialFrame(
    trial,
    context,
    troubleStrip(trial, now.troubles, problemOf(now)),
    h(
      "form",
      { class: "filters", key: "filters", onsubmit: (event) => event.preventDefault() },
      pick("Player", "player", [["", "all"], ...learning.map((player) => [player.id, player.name])], chosen, (player) =>
        context.setQuery({ player }),
      ),
      problemWith("The players", players),
    ),
    h(
      "div",
      { key: "failures" },
      card(
        "Problems",
        orProblem(failures, () =>
          failures.length
            ? [h("p", {}, failureSummary(failures, failures.length === SHOWN ? " newest" : "")), failureTable(trial, failures)]
            : h("p", { class: "quiet" }, "Nothing has gone wrong so far."),
        ),
      ),
    ),
  );
}
