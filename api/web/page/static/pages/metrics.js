// The metric explorer of a trial: any metric of any players, pinned charts that a link shares, PNG and CSV of each.
import { get, getAll } from "../core/api.js";
import { prefetchCharts } from "../charts/line_charts.js";
import { restNote, trendChart } from "../charts/trend_chart.js";
import { h } from "../core/dom.js";
import { keepPins, pinnedMetrics } from "../core/pins.js";
import { bestFirst, inOrder, readSeries } from "../core/series.js";
import { part } from "../core/parts.js";
import { toast } from "../components/dialog.js";
import { chartView, viewControls } from "../components/chart_view.js";
import { HYPERPARAMETER, shownName } from "../components/metric_charts.js";
import { LEARNS } from "../components/trial_facts.js";
import { trialFrame } from "../components/trial_frame.js";
import { empty } from "../components/widgets.js";

const MOST_PINS = 24;
export const enter = prefetchCharts;
export const title = ({ trial }) => `Metrics · ${trial.name}`;
export const trialOf = (context) => context.parameters.trial;
export const onEvent = (event) => event.type === "generation.recorded" || event.type === "trial.status";

export async function load({ parameters, query, state }) {
  const root = `/trials/${parameters.trial}`;
  const [trial, players, { names }, ratings] = await Promise.all([
    get(root),
    part(getAll(`${root}/players`)),
    get(`${root}/metrics/names`),
    part(getAll(`${root}/ratings`, {}, { maximum: 1000 })), // for the order alone
  ]);
  const pins = pinnedMetrics(names, query).slice(0, MOST_PINS);
  state.series ??= new Map();
  const learning = players.filter((player) => LEARNS.includes(player.role) && player.status === "active");
  const series = await readSeries(state.series, parameters.trial, pins, learning);
  return { trial, players, names, pins, series, order: bestFirst(players, ratings) };
}

export function view(data, context) {
  const { trial, names } = data;
  if (!names.length) return trialFrame(trial, context, empty("No metrics yet", "The first generation that is recorded has some."));
  const look = chartView(context.query, data.players);
  const chosen = shownSeries(data, context.query.players ?? "");
  return trialFrame(
    trial,
    context,
    h(
      "div",
      { class: "filters", key: "look" },
      viewControls(look, context, data.players.length),
      playersField(data, context),
      share(data.pins, context),
    ),
    picker(data, context),
    data.pins.length
      ? h(
          "div",
          { class: "grid", key: "charts" },
          data.pins.map((name) => pinned(name, chosen, look, data, context)),
        )
      : h("p", { class: "quiet", key: "none" }, "No chart is pinned. Choose metrics above."),
  );
}

/** The series of the players whose name contains one of the given words; all without any. */
function shownSeries({ series, order }, text) {
  const words = text
    .toLowerCase()
    .split(",")
    .map((word) => word.trim())
    .filter(Boolean);
  const found = series.filter((line) => !words.length || words.some((word) => line.player.toLowerCase().includes(word)));
  return inOrder(found, order);
}

const playersField = ({ players }, context) =>
  h(
    "label",
    { class: "pick" },
    "Players ",
    h("input", {
      type: "search",
      list: "players-with-metrics",
      placeholder: "all",
      title: "Parts of names, with commas between them",
      value: context.query.players ?? "",
      onchange: (event) => context.setQuery({ players: event.target.value }),
    }),
    h(
      "datalist",
      { id: "players-with-metrics" },
      players.filter((player) => LEARNS.includes(player.role)).map((player) => h("option", { value: player.name })),
    ),
  );

const share = (pins, context) => h("button", { class: "plain", onclick: () => copyAddress(pins, context) }, "Copy link");

/** The address of these charts; pins that only this browser keeps are put into it. */
async function copyAddress(pins, context) {
  await context.setQuery({ pins: keepPins(pins) });
  try {
    await navigator.clipboard.writeText(location.href);
    toast("The address of these charts is copied.");
  } catch {
    toast("The browser does not allow copying: the address is in its address bar.", "bad");
  }
}

function picker({ names, pins }, context) {
  const wanted = (context.query.find ?? "").trim().toLowerCase();
  const found = names.filter((name) => name.toLowerCase().includes(wanted) || shownName(name).includes(wanted));
  return h(
    "section",
    { class: "card", key: "picker", "aria-label": "Metrics" },
    h(
      "div",
      { class: "filters" },
      h(
        "label",
        { class: "pick" },
        "Find a metric ",
        h("input", {
          type: "search",
          value: context.query.find ?? "",
          onchange: (event) => context.setQuery({ find: event.target.value }),
        }),
      ),
      h("span", { class: "quiet" }, `${pins.length} of ${names.length} metrics pinned, at most ${MOST_PINS}`),
    ),
    h(
      "div",
      { class: "tabs metric-names", role: "group", "aria-label": "Pin metrics", tabindex: 0 },
      found.map((name) =>
        h(
          "button",
          { class: "tab", key: name, "aria-pressed": pins.includes(name), onclick: () => toggle(name, pins, context) },
          shownName(name),
        ),
      ),
    ),
  );
}

function toggle(name, pins, context) {
  const changed = pins.includes(name) ? pins.filter((pin) => pin !== name) : [...pins, name];
  if (changed.length > MOST_PINS) return toast(`At most ${MOST_PINS} charts: unpin one first.`, "bad");
  return context.setQuery({ pins: keepPins(changed) });
}

function pinned(name, series, look, { pins }, context) {
  const found = series.filter((line) => line.name === name);
  const logs = new Set((context.query.log ?? "").split(",").filter(Boolean).map(decodeURIComponent));
  const isLog = logs.has(name);
  const setLog = () => {
    if (!logs.delete(name)) logs.add(name);
    return context.setQuery({ log: [...logs].map(encodeURIComponent).join(",") });
  };
  return h(
    "section",
    { class: "card", key: name, "aria-label": shownName(name) },
    h(
      "div",
      { class: "title" },
      h("h2", {}, shownName(name)),
      h(
        "div",
        { class: "row" },
        h("button", { class: "plain", "aria-pressed": isLog, "aria-label": `Logarithmic: ${shownName(name)}`, onclick: setLog }, "log"),
        h("button", { class: "plain", "aria-label": `Unpin ${shownName(name)}`, onclick: () => toggle(name, pins, context) }, "✕"),
      ),
    ),
    found.length
      ? trendChart(name, `${shownName(name)} over ${look.over === "time" ? "time" : "steps"}`, found, look, {
          unit: shownName(name),
          logarithmic: isLog,
          stepped: name.startsWith(HYPERPARAMETER),
        })
      : h("p", { class: "quiet waits-for-chart" }, "None of these players has it."),
    h("p", { class: "quiet under-chart" }, restNote(found.length)),
  );
}
