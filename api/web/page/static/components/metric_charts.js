// Charts of metrics over steps, a line for each player: one metric, or tabs of a group of them.
import { chart } from "../charts/line_charts.js";
import { seriesColours } from "../charts/colours.js";
import { h } from "../core/dom.js";
import { humanize } from "../core/format.js";
import { card } from "./widgets.js";

const LOSSES = [
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
const HYPERPARAMETER = "hyperparameter/"; // and those of hyperparameters that a population varies

/** Hyperparameters are multiplied by factors, so that a logarithmic axis shows equal changes alike. */
const isLogarithmic = (name, lines) => name.startsWith(HYPERPARAMETER) && lines.every((line) => line.values.every((value) => value > 0));

export function metricChart(key, label, metrics, name, unit) {
  const found = metrics.filter((line) => line.name === name);
  if (!found.length) return h("p", { class: "quiet" }, "Shown after the first generation.");
  return chart(
    key,
    label,
    () => ({
      data: found.map((line, place) => ({
        type: "scatter",
        mode: "lines",
        name: line.player,
        x: line.steps,
        y: line.values,
        line: { color: seriesColours()[place % 6], width: 2, shape: name.startsWith(HYPERPARAMETER) ? "hv" : "linear" },
      })),
      layout: {
        xaxis: { title: { text: "steps of the player" } },
        yaxis: { title: { text: unit }, ...(isLogarithmic(name, found) ? { type: "log", exponentformat: "e" } : { rangemode: "tozero" }) },
      },
    }),
    [metrics, name],
  );
}

const shownName = (name) => {
  const group = [AGENT, HYPERPARAMETER].find((prefix) => name.startsWith(prefix));
  return group ? name.slice(group.length) : humanize(name);
};

export function losses({ metrics }, context) {
  const names = LOSSES.filter((name) => metrics.some((line) => line.name === name));
  if (!names.length) return h("p", { class: "quiet" }, "Shown after the first generation.");
  return metricTabs("losses", metrics, names, "metric", context);
}

/** What agents of a game that calls in have reported; null where there is nothing. */
export function agentMetrics({ metrics }, context) {
  const names = [...new Set(metrics.map((line) => line.name).filter((name) => name.startsWith(AGENT)))].sort();
  return names.length ? card("Agents", metricTabs("agents", metrics, names, "agent_metric", context)) : null;
}

/** The hyperparameters that populations vary, a line for each member; null where there is no population. */
export function schedules({ metrics }, context) {
  const names = [...new Set(metrics.map((line) => line.name).filter((name) => name.startsWith(HYPERPARAMETER)))].sort();
  return names.length
    ? card("Hyperparameters of the population", metricTabs("schedules", metrics, names, "hyperparameter", context))
    : null;
}

function metricTabs(key, metrics, names, parameter, context) {
  const chosen = names.includes(context.query[parameter]) ? context.query[parameter] : names[0];
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
    metricChart(key, `${shownName(chosen)} over steps`, metrics, chosen, shownName(chosen)),
  ];
}
