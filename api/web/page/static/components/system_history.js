// CPU, memory, reserved CPUs and queue lengths over the last hour, as small charts.
import { h, s } from "../core/dom.js";
import { clock, fixed, percent, whole } from "../core/format.js";
import { card } from "./widgets.js";

const WIDTH = 240;
const HEIGHT = 48;

export function historyCard(history) {
  if (!history?.at.length)
    return card("The last hour", h("p", { class: "quiet" }, "Sampled every ten seconds; shown after the first sample."));
  const from = `${clock(history.at[0])} to ${clock(history.at.at(-1))}`;
  const queues = Object.entries(history.queues).map(([name, values]) => [`Queue ${name}`, values, null, whole]);
  return card(
    "The last hour",
    h("p", { class: "quiet" }, `${from}, a sample every ${history.every_seconds} s, kept in memory by the API.`),
    h(
      "ul",
      { class: "timelines" },
      [
        ["CPU", history.cpu, 1, percent],
        ["Memory", history.memory, 1, percent],
        ["CPUs of crews", history.reserved_cpus, null, (value) => fixed(value, 0)],
        ...queues,
      ].map(([name, values, most, show]) => timeline(name, values, most, show)),
    ),
  );
}

function timeline(name, values, most, show) {
  const known = values.filter((value) => value !== null);
  const highest = most ?? Math.max(1, ...known);
  const last = known.at(-1);
  const label = known.length ? `${name}: now ${show(last)}, at most ${show(Math.max(...known))} in the last hour` : `${name}: not known`;
  return h(
    "li",
    { key: name },
    h("div", { class: "title" }, h("span", {}, name), h("strong", {}, known.length ? show(last) : "–")),
    s(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": label },
      s("path", {
        d: line(values, highest),
        fill: "none",
        stroke: "currentColor",
        "stroke-width": 1.5,
        "vector-effect": "non-scaling-stroke",
      }),
    ),
  );
}

/** A line that breaks where nothing is known. */
function line(values, highest) {
  const step = WIDTH / Math.max(1, values.length - 1);
  const point = (value, place) => `${(place * step).toFixed(1)} ${(HEIGHT - 1 - (value / highest) * (HEIGHT - 2)).toFixed(1)}`;
  const known = (place) => place >= 0 && values[place] !== null;
  return values.map((value, place) => (known(place) ? `${known(place - 1) ? "L" : "M"}${point(value, place)}` : "")).join("");
}
