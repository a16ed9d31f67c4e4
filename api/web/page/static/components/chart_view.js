// How charts are looked at: over steps or time, smoothed, on which scale, whom to highlight. All of it is in the address.
import { h } from "../core/dom.js";
import { rosterPlaces } from "../core/roster_colours.js";
import { pick } from "./widgets.js";

const OVER = [
  ["steps", "steps"],
  ["log", "steps, logarithmic"],
  ["time", "time"],
];
const SMOOTHING = [
  ["0", "none"],
  ["0.6", "0.6"],
  ["0.9", "0.9"],
  ["0.97", "0.97"],
];

/** What the address says, {over, smooth, highlight}, and the places of the trial's players, which give them their colours. */
export function chartView({ over, smooth, highlight = "" }, players = []) {
  return {
    over: OVER.some(([name]) => name === over) ? over : "steps",
    smooth: SMOOTHING.some(([weight]) => weight === smooth) ? Number(smooth) : 0,
    highlight,
    places: rosterPlaces(players),
  };
}

/** The controls for it; `lines`: how many lines there are at most. */
export function viewControls(view, context, lines) {
  return [
    pick("Over", "over", OVER, view.over, (over) => context.setQuery({ over: over === "steps" ? "" : over })),
    pick("Smoothing", "smooth", SMOOTHING, String(view.smooth), (smooth) => context.setQuery({ smooth: smooth === "0" ? "" : smooth })),
    lines > 1
      ? h(
          "label",
          { class: "pick" },
          "Highlight ",
          h("input", { type: "search", value: view.highlight, onchange: (event) => context.setQuery({ highlight: event.target.value }) }),
        )
      : null,
  ];
}

/** The x axis of a chart. */
export const xAxis = ({ over }) =>
  over === "time" ? { type: "date", title: { text: "time" } } : { type: over === "log" ? "log" : "linear", title: { text: "steps" } };
