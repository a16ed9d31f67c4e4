// One sweep: parallel coordinates, curves over the rungs, importance of fields, and its trials.
import { get, getAll } from "../core/api.js";
import { h } from "../core/dom.js";
import { chart, prefetchCharts } from "../charts/line_charts.js";
import { seriesColours } from "../charts/colours.js";
import { badge, bar, empty, table } from "../components/widgets.js";

export const title = ({ sweep }) => sweep.name;
export const onEvent = (event) => /^(sweep\.|trial\.status|generation\.)/.test(event.type);

export async function load({ parameters }) {
  prefetchCharts();
  const path = `/sweeps/${parameters.sweep}`;
  const [sweep, trials, importances] = await Promise.all([
    get(path),
    getAll(`${path}/trials`, { limit: 500 }, { maximum: 1000 }),
    get(`${path}/importances`),
  ]);
  return { sweep, trials, importances };
}

export function view({ sweep, trials, importances }) {
  const paths = Object.keys(sweep.spec.space);
  const valued = trials.filter((each) => each.value !== null);
  const best = [...trials].sort(byMerit);
  const stamp = JSON.stringify(trials.map((each) => each.rungs.length));
  return [
    h(
      "div",
      { class: "title", key: "title" },
      h("h1", {}, sweep.name, " ", badge(sweep.status)),
      h("p", { class: "note" }, summary(sweep)),
    ),
    valued.length > 1 &&
      card("coordinates", "Parallel coordinates", [
        chart("coordinates", "Hyperparameters and value of each trial", () => coordinates(paths, valued), [stamp], { height: 320 }),
      ]),
    valued.length > 0 &&
      card("curves", "Values at the rungs", [chart("curves", "Value of each trial at each rung", () => curves(valued), [stamp])]),
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
          "p",
          { class: "note" },
          importances.method === "fanova" ? "By fANOVA" : "The variance that each field by itself explains",
          `, from ${importances.trials} trials at the lowest rung.`,
        ),
      ]),
    trials.length
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
        steps.toLocaleString("en"),
        (each) => shortValue(each.rungs.find((one) => one.rung === rung)?.value),
        "number",
      ]),
      ["Decision", (each) => each.rungs.at(-1)?.reason ?? ""],
    ],
    trials,
    (each) => each.trial_id,
  );
}

function coordinates(paths, trials) {
  const value = trials.map((each) => each.value);
  return {
    data: [
      {
        type: "parcoords",
        line: { color: value, colorscale: "Viridis", showscale: true },
        dimensions: [...paths.map((path) => axis(path, trials)), { label: "value", values: value }],
      },
    ],
    layout: { margin: { t: 60, l: 60, r: 40, b: 30 } },
  };
}

/** Numbers as they are, in decades where they span more than two; anything else by its place among the choices. */
function axis(path, trials) {
  const label = path.split(".").at(-1);
  const found = trials.map((each) => each.point[path]);
  if (found.every((each) => typeof each === "number")) {
    const low = Math.min(...found);
    const decades = low > 0 && Math.max(...found) / low > 100;
    return { label: decades ? `log10 ${label}` : label, values: decades ? found.map(Math.log10) : found };
  }
  const words = [...new Set(found.map((each) => JSON.stringify(each)))];
  return { label, values: found.map((each) => words.indexOf(JSON.stringify(each))), tickvals: words.map((_, at) => at), ticktext: words };
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

const byMerit = (a, b) => b.rungs.length - a.rungs.length || (b.value ?? -Infinity) - (a.value ?? -Infinity);

/** A value in few characters: 4 digits of a number, other values as JSON. */
export function shortValue(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(4)));
  return typeof value === "string" ? value : JSON.stringify(value);
}
