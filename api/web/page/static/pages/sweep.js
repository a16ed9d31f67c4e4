// One sweep: parallel coordinates, curves over the rungs, importance of fields, and its trials.
import { get, getAll } from "../core/api.js";
import { h } from "../core/dom.js";
import { part, problemOf } from "../core/parts.js";
import { chart, prefetchCharts } from "../charts/line_charts.js";
import { seriesColours } from "../charts/colours.js";
import { sweepActions } from "../components/sweep_actions.js";
import { badge, bar, empty, orProblem, table } from "../components/widgets.js";

export const title = ({ sweep }) => sweep.name;
/** Events of the sweep itself, and of its trials. */
export const onEvent = ({ type, trial_id: trial, payload }, { parameters, state }) =>
  type.startsWith("sweep.")
    ? payload.sweep_id === parameters.sweep
    : ["trial.status", "generation.recorded"].includes(type) && state.trials?.has(trial);

export async function load({ parameters, state }) {
  prefetchCharts();
  const path = `/sweeps/${parameters.sweep}`;
  const [sweep, trials, importances] = await Promise.all([
    get(path),
    part(getAll(`${path}/trials`, { limit: 500 }, { maximum: 1000 })),
    part(get(`${path}/importances`), { items: [] }),
  ]);
  state.trials = new Set(trials.map((each) => each.trial_id));
  return { sweep, trials, importances };
}

export function view({ sweep, trials, importances }, context) {
  const paths = Object.keys(sweep.spec.space);
  const valued = trials.filter((each) => each.value !== null);
  const best = [...trials].sort(byMerit);
  const stamp = JSON.stringify(trials.map((each) => each.rungs.length));
  return [
    h("div", { class: "title", key: "title" }, h("h1", {}, sweep.name, " ", badge(sweep.status)), sweepActions(sweep, context)),
    h("p", { class: "quiet", key: "summary" }, summary(sweep)),
    valued.length > 1 &&
      card("coordinates", "Parallel coordinates", [
        chart("coordinates", "Hyperparameters and value of each trial", () => coordinates(paths, valued), [stamp], { height: 320 }),
      ]),
    valued.length > 0 &&
      card("curves", "Values at the rungs", [chart("curves", "Value of each trial at each rung", () => curves(valued), [stamp])]),
    problemOf(importances) && card("importance", "Which fields matter", [orProblem(importances)]),
    importances.items.length > 0 &&
      card("importance", "Which fields matter", [
        table(
          "Importance",
          [
            ["Field", (each) => each.path],
            ["Importance", (each) => [bar(each.importance, 1, `Importance of ${each.path}`), h("small", {}, each.importance.toFixed(2))]],
          ],
          importances.items,
          (each) => each.path,
        ),
        h(
          "small",
          {},
          importances.method === "fanova" ? "By fANOVA" : "The variance that each field by itself explains",
          `, from ${importances.trials} trials at the lowest rung.`,
        ),
      ]),
    problemOf(trials)
      ? card("trials", "Trials", [orProblem(trials)])
      : trials.length
        ? card("trials", "Trials", [trialTable(best, paths, sweep.rungs)])
        : empty("No trials yet", "The first one starts within seconds."),
  ];
}

const card = (key, heading, children) => h("section", { class: "card", key, "aria-label": heading }, h("h2", {}, heading), ...children);

function summary(sweep) {
  const saved = sweep.finished_at ? `, ${Math.round(100 * (1 - sweep.steps / sweep.most_steps))} % fewer than without early stopping` : "";
  const ended = `${sweep.trials_ended} of ${sweep.trials} trials ended, ${sweep.stopped_early} of them early`;
  const reason = sweep.status_reason ? `${sweep.status_reason}. ` : "";
  return `${sweep.method}. ${reason}${ended}; ${sweep.steps.toLocaleString("en")} steps${saved}.`;
}

function trialTable(trials, paths, rungs) {
  return table(
    "Trials",
    [
      ["Trial", (each) => h("a", { href: `/trials/${each.trial_id}` }, each.name)],
      ["Status", (each) => badge(each.stopped_early ? "stopped" : each.status)],
      ...paths.map((path) => [path.split(".").at(-1), (each) => shortValue(each.point[path])]),
      ...rungs.map((steps, rung) => [
        `${steps.toLocaleString("en")} steps`,
        (each) => shortValue(each.rungs.find((one) => one.rung === rung)?.value),
        "number",
      ]),
      ["Decision", (each) => each.rungs.at(-1)?.reason ?? ""],
    ],
    trials,
    (each) => each.trial_id,
  );
}

/** A line for each trial over one axis for each field and one for the value; better trials are more opaque. */
function coordinates(paths, trials) {
  const axes = [
    ...paths.map((path) => axis(path, trials)),
    scaled(
      "value",
      trials.map((each) => each.value),
    ),
  ];
  const colours = seriesColours();
  const data = trials.map((each, at) => ({
    type: "scatter",
    mode: "lines+markers",
    name: each.name,
    x: axes.map((_, place) => place),
    y: axes.map((one) => one.places[at]),
    text: axes.map((one) => `${one.label}: ${one.words[at]}`),
    hovertemplate: `%{text}<extra>${each.name}</extra>`,
    opacity: 0.25 + 0.75 * axes.at(-1).places[at],
    line: { color: colours[at % colours.length], width: 2 },
  }));
  const ends = axes.flatMap((one, place) => [
    { x: place, y: 1.06, text: one.high, showarrow: false },
    { x: place, y: -0.06, text: one.low, showarrow: false },
  ]);
  return {
    data,
    layout: {
      xaxis: { tickvals: axes.map((_, place) => place), ticktext: axes.map((one) => one.label), side: "top" },
      yaxis: { range: [-0.12, 1.12], showticklabels: false },
      annotations: ends,
      showlegend: false,
    },
  };
}

/** A field's values from 0 to 1: by decades where they span more than two, and choices by their order. */
function axis(path, trials) {
  const label = path.split(".").at(-1);
  const found = trials.map((each) => each.point[path]);
  if (found.every((each) => typeof each === "number")) return scaled(label, found);
  const words = [...new Set(found.map((each) => JSON.stringify(each)))].sort();
  const places = found.map((each) => (words.length > 1 ? words.indexOf(JSON.stringify(each)) / (words.length - 1) : 0.5));
  return { label, places, words: found.map(shortValue), low: words[0], high: words.at(-1) };
}

function scaled(label, found) {
  const [low, high] = [Math.min(...found), Math.max(...found)];
  const of = low > 0 && high / low > 100 ? Math.log : Number;
  const places = found.map((each) => (high > low ? (of(each) - of(low)) / (of(high) - of(low)) : 0.5));
  return { label, places, words: found.map(shortValue), low: shortValue(low), high: shortValue(high) };
}

function curves(trials) {
  const colours = seriesColours();
  const data = trials.map((each, at) => ({
    type: "scatter",
    mode: "lines+markers",
    name: each.name,
    x: each.rungs.map((one) => one.steps),
    y: each.rungs.map((one) => one.value),
    line: { color: colours[at % colours.length], width: each.stopped_early ? 1 : 2.5 },
  }));
  return { data, layout: { xaxis: { title: { text: "steps" } }, yaxis: { title: { text: "value" } }, showlegend: trials.length <= 12 } };
}

const furthest = (trial) => trial.rungs.at(-1)?.rung ?? -1;
const byMerit = (a, b) => furthest(b) - furthest(a) || (b.value ?? -Infinity) - (a.value ?? -Infinity);

/** A value in few characters: 4 digits of a number, other values as JSON. */
export function shortValue(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(4)));
  return typeof value === "string" ? value : JSON.stringify(value);
}
