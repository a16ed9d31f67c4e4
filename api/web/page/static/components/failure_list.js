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
      ["Lost steps", (each) => whole(each.lost_steps), "number"],
    ],
    failures,
    (each) => each.id,
  );
}

/** That the work succeeded after the failure, and how long after. */
export const recoveredText = ({ at, recovered_at: then }) => `Made good ${duration((new Date(then) - new Date(at)) / 1000)} later.`;

function sentence(trial, failure) {
  const { message, trace } = messageAndTrace(failure.text);
  const { tournament_id: tournament, gate_id: gate } = failure;
  return [
    eventText(message, { type: "", payload: failure, trial_id: null }),
    tournament ? [" (", h("a", { href: `/tournaments/${tournament}` }, "the tournament"), ")"] : null,
    gate ? [" (", h("a", { href: `/trials/${trial.id}/promotions?gate=${gate}` }, "the gate"), ")"] : null,
    failure.recovered_at ? h("p", { class: "quiet" }, recoveredText(failure)) : null,
    trace ? h("details", {}, h("summary", {}, "Traceback"), h("pre", { tabindex: 0 }, trace)) : null,
  ];
}
