// Failures of a trial or a player, each with its attempts, lost steps and error text.
import { h } from "../core/dom.js";
import { duration, messageAndTrace, since, whole } from "../core/format.js";
import { eventText, table, time } from "./widgets.js";

export function failureTable(trial, failures) {
  const root = `/trials/${trial.id}/problems`;
  return table(
    "Problems, newest first",
    [
      ["When", (each) => [time(each.at), h("br"), h("small", {}, `${since(each.at)} ago`)]],
      ["Player", (each) => (each.player_id ? h("a", { href: `${root}?player=${each.player_id}` }, each.player ?? "–") : "–")],
      ["What happened", (each) => sentence(trial, each), "long"],
      ["Attempts", (each) => whole(each.attempts), "number"],
      ["Lost steps", (each) => (each.attempts || each.lost_steps ? whole(each.lost_steps) : "–"), "number"],
      ["Outcome", outcomeText],
    ],
    failures,
    (each) => each.id,
  );
}

/** Whether the failure was made good, and how long after; lost for good, and why; or still open. */
export function outcomeText({ at, recovered_at: then, outcome, outcome_reason: why }) {
  if (outcome === "lost") return `Lost for good: ${why}`;
  if (outcome !== "recovered") return "Open: not made good so far";
  const seconds = (new Date(then) - new Date(at)) / 1000;
  return seconds < 1 ? "Made good at once" : `Made good ${duration(seconds)} later`;
}

/** How many problems had which outcome, and what became of the steps that they cost. */
export function failureSummary(failures, more = "") {
  const having = (outcome) => failures.filter((each) => each.outcome === outcome);
  const steps = (found) => found.reduce((sum, each) => sum + each.lost_steps, 0);
  const told = [
    [having("recovered"), "made good"],
    [having("lost"), "lost for good"],
    [having("open"), "open"],
  ].filter(([found]) => found.length);
  const lost = told.filter(([found]) => steps(found)).map(([found, words]) => `${whole(steps(found))} of problems ${words}`);
  return [
    `${failures.length === 1 ? "1 problem" : `${whole(failures.length)}${more} problems`}: `,
    `${told.map(([found, words]) => `${whole(found.length)} ${words}`).join(", ")}. `,
    lost.length ? `Lost steps: ${lost.join(", ")}; those made good were made again.` : "No steps of training were lost.",
  ].join("");
}

function sentence(trial, failure) {
  const { message, trace } = messageAndTrace(failure.text);
  const { tournament_id: tournament, gate_id: gate } = failure;
  return [
    eventText(message, { type: "", payload: failure, trial_id: null }),
    tournament ? [" (", h("a", { href: `/tournaments/${tournament}` }, "the tournament"), ")"] : null,
    gate ? [" (", h("a", { href: `/trials/${trial.id}/promotions?gate=${gate}` }, "the gate"), ")"] : null,
    trace ? h("details", {}, h("summary", {}, "Traceback"), h("pre", { tabindex: 0 }, trace)) : null,
  ];
}
