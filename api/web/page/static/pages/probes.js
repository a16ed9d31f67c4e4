// How exploitable a trial's versions were at least: what fresh responders won against them.
import { get, getAll, hasScope, post } from "../core/api.js";
import { chart, prefetchCharts } from "../charts/line_charts.js";
import { seriesColours } from "../charts/colours.js";
import { toast } from "../components/dialog.js";
import { h } from "../core/dom.js";
import { percent, whole } from "../core/format.js";
import { badge, empty, table, time, versionLink } from "../components/widgets.js";
import { trialFrame } from "../components/trial_frame.js";

const MOST = 500;
export const enter = prefetchCharts;
export const title = ({ trial }) => `Probes of ${trial.name}`;
export const trialOf = (context) => context.parameters.trial;
export const onEvent = (event) => /^(probe|trial)\./.test(event.type);

export async function load({ parameters }) {
  const root = `/trials/${parameters.trial}`;
  const [trial, probes] = await Promise.all([get(root), getAll("/probes", { trial_id: parameters.trial }, { maximum: MOST })]);
  return { trial, probes };
}

export function view({ trial, probes }, context) {
  const measured = probes.filter((each) => each.win_rate !== null && each.version_steps !== null);
  if (!probes.length) {
    return trialFrame(
      trial,
      context,
      empty("No probes yet", "A probe trains fresh responders against a version: ", h("code", {}, `lanista probe ${trial.name}/main`)),
    );
  }
  return trialFrame(
    trial,
    context,
    measured.length > 0 &&
      h(
        "section",
        { class: "card", key: "history", "aria-label": "Exploitability over steps" },
        h("h2", {}, "Exploitability over steps"),
        chart("probes", "Win rate of the best responder by steps of the version", () => history(measured), [
          measured.map((each) => each.id),
        ]),
        h("small", {}, "Win rate of the best fresh responder, with its interval. 50 %: none got an edge with this budget."),
      ),
    h(
      "section",
      { class: "card", key: "probes", "aria-label": "Probes" },
      h("h2", {}, "Probes"),
      table("Probes", columns(context), probes, (each) => each.id),
    ),
  );
}

const columns = (context) => [
  ["Target", (each) => (each.version_id ? versionLink(each.version_id, each.target) : each.target)],
  ["Status", (each) => badge(each.status)],
  ["Steps of the version", (each) => whole(each.version_steps), "number"],
  ["Win rate", (each) => percent(each.win_rate, 1), "number"],
  ["At least", (each) => percent(each.low, 1), "number"],
  ["At most", (each) => percent(each.high, 1), "number"],
  [
    "Responders",
    (each) => each.trials.map((one, place) => [place ? ", " : "", h("a", { href: `/trials/${one.trial_id}` }, String(place + 1))]),
  ],
  ["Steps each", (each) => whole(each.spec.steps), "number"],
  [
    "Games",
    (each) => (each.tournament_id ? h("a", { href: `/tournaments/${each.tournament_id}` }, whole(each.spec.games)) : "–"),
    "number",
  ],
  ["Reason", (each) => each.status_reason ?? "", "long"],
  ["Created", (each) => time(each.created_at)],
  [
    "",
    (each) =>
      hasScope("operator") &&
      !each.finished_at &&
      h("button", { class: "plain", onclick: () => stop(each, context), "aria-label": `Stop the probe of ${each.target}` }, "Stop"),
  ],
];

/** A line for each player: the best responder's win rate with its interval, by the steps of the probed version. */
function history(probes) {
  const players = [...new Set(probes.map((each) => each.player))].sort();
  const data = players.map((player, order) => {
    const own = probes.filter((each) => each.player === player).sort((one, other) => one.version_steps - other.version_steps);
    return {
      type: "scatter",
      mode: "lines+markers",
      name: player,
      x: own.map((each) => each.version_steps),
      y: own.map((each) => each.win_rate),
      text: own.map((each) => `${each.target}: ${percent(each.win_rate, 1)} (${percent(each.low, 1)} to ${percent(each.high, 1)})`),
      hovertemplate: "%{text}<extra></extra>",
      line: { color: seriesColours()[order % 6], width: 2 },
      error_y: {
        type: "data",
        symmetric: false,
        array: own.map((each) => each.high - each.win_rate),
        arrayminus: own.map((each) => each.win_rate - each.low),
      },
    };
  });
  return {
    data,
    layout: {
      xaxis: { title: { text: "steps of the version" }, rangemode: "tozero" },
      yaxis: { title: { text: "win rate" }, range: [0, 1], tickformat: ".0%" },
    },
  };
}

async function stop(probe, context) {
  await post(`/probes/${probe.id}/stop`, {});
  toast(`The probe of ${probe.target} stops.`);
  await context.refresh();
}
