// Charts of metrics, a line for each player: one metric, or tabs of a group of them.
import { restNote, trendChart } from "../charts/trend_chart.js";
import { h } from "../core/dom.js";
import { humanize } from "../core/format.js";
import { card } from "./widgets.js";

export const LOSSES = [
  "value_loss",
  "policy_loss",
  "validation_loss",
  "validation_accuracy",
  "imitation",
  "entropy",
  "kl",
  "explained_variance",
  "clip_fraction",
  "return_mean",
  "game_length",
  "anchor_kl",
  "sample_age",
];
const AGENT = "agent/"; // how the names of agents' own metrics begin
export const HYPERPARAMETER = "hyperparameter/"; // and those of hyperparameters that a population varies
export const THROUGHPUT = "steps_per_second";
export const NASH_CONV = ["nash_conv", "nash_conv_mixture"];
const GROUPS = [
  ["metric", (name) => LOSSES.includes(name)],
  ["agent_metric", (name) => name.startsWith(AGENT)],
  ["hyperparameter", (name) => name.startsWith(HYPERPARAMETER)],
];

/** The metric on display of each group of tabs, and the others that the overview shows. */
export function namesOnDisplay(names, query) {
  const chosen = GROUPS.map(([parameter, belongs]) => chosenOf(names.filter(belongs), query[parameter]));
  return [THROUGHPUT, "exact", ...NASH_CONV, ...chosen].filter((name) => names.includes(name));
}

const inOrder = (names) => [...LOSSES.filter((name) => names.includes(name)), ...names.filter((name) => !LOSSES.includes(name))];
const chosenOf = (names, wanted) => (names.includes(wanted) ? wanted : inOrder(names)[0]);

export const shownName = (name) => {
  const group = [AGENT, HYPERPARAMETER].find((prefix) => name.startsWith(prefix));
  return group ? name.slice(group.length) : humanize(name);
};

export function metricChart(key, label, metrics, name, unit, view) {
  const found = metrics.filter((line) => line.name === name);
  if (!found.length) return h("p", { class: "quiet waits-for-chart" }, "Shown after the first generation.");
  const varies = name.startsWith(HYPERPARAMETER); // multiplied by factors: a logarithmic axis shows equal changes alike
  return [
    trendChart(key, label, found, view, { unit, logarithmic: varies, stepped: varies }),
    h("p", { class: "quiet under-chart" }, restNote(found.length)),
  ];
}

export function losses(data, context, view) {
  const tabs = metricTabs("losses", data, "metric", context, view);
  return card("Losses", tabs ?? h("p", { class: "quiet waits-for-chart" }, "Shown after the first generation."));
}

/** What agents of a game that calls in have reported; null where there is nothing. */
export function agentMetrics(data, context, view) {
  const tabs = metricTabs("agents", data, "agent_metric", context, view);
  return tabs && card("Agents", tabs);
}

/** The hyperparameters that populations vary, a line for each member; null where there is no population. */
export function schedules(data, context, view) {
  const tabs = metricTabs("schedules", data, "hyperparameter", context, view);
  return tabs && card("Hyperparameters of the population", tabs);
}

/** How far the league is from equilibrium, in a small game whose trial asks for it; null elsewhere. */
export function nashConv({ metrics, metricNames }, view) {
  const found = NASH_CONV.filter((name) => metricNames.includes(name));
  if (!found.length) return null;
  const mixture = found.includes("nash_conv_mixture");
  const lines = metrics
    .filter((line) => found.includes(line.name))
    .map((line) => ({
      ...line,
      player: line.name === "nash_conv" ? line.player : "mixture of the pool (Nash)",
      player_id: `${line.name} ${line.player_id}`,
      owner: line.name === "nash_conv" ? line.player_id : line.name,
    }));
  return card(
    "NashConv",
    trendChart("nash_conv", `NashConv over ${view.over === "time" ? "time" : "steps"}`, lines, view, {
      unit: "NashConv",
      logarithmic: true,
    }),
    h(
      "p",
      { class: "quiet under-chart" },
      "What best responses gain in all seats together: 0 is an equilibrium.",
      mixture ? " The outcome is the mixture: one of the pool's members is drawn for each game." : "",
    ),
  );
}

function metricTabs(key, { metrics, metricNames }, parameter, context, view) {
  const [, belongs] = GROUPS.find(([name]) => name === parameter);
  const names = inOrder(metricNames.filter(belongs));
  if (!names.length) return null;
  const chosen = chosenOf(names, context.query[parameter]);
  return [
    h(
      "div",
      { class: "tabs", role: "group", "aria-label": "Metric" },
      names.map((name) =>
        h(
          "button",
          {
            class: "tab",
            key: name,
            "aria-pressed": name === chosen,
            onclick: () => context.setQuery({ [parameter]: name }),
          },
          shownName(name),
        ),
      ),
    ),
    metricChart(key, `${shownName(chosen)} over ${view.over === "time" ? "time" : "steps"}`, metrics, chosen, shownName(chosen), view),
  ];
}
