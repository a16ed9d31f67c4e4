// Overview of a trial: whether it goes well, what happens, ratings, throughput, losses, players; details last.
import { get, getAll, hasScope } from "../core/api.js";
import { prefetchCharts } from "../charts/line_charts.js";
import { h } from "../core/dom.js";
import { humanize } from "../core/format.js";
import { THROUGHPUT, agentMetrics, losses, metricChart, namesOnDisplay, nashConv, schedules } from "../components/metric_charts.js";
import { chartView, viewControls } from "../components/chart_view.js";
import { ratingChart } from "../charts/rating_chart.js";
import { mixtureCard } from "../components/mixture_card.js";
import { playerTable } from "../components/player_table.js";
import { card, eventText, orProblem, problemWith, time } from "../components/widgets.js";
import { happeningList } from "../components/happening_list.js";
import { nowRow, troubleStrip } from "../components/now_row.js";
import { LEARNS, OVER, budget, details, standing, underWay } from "../components/trial_facts.js";
import { recentEvents } from "../core/event_stream.js";
import { withMoves } from "../core/event_links.js";
import { bestFirst, inOrder, readSeries } from "../core/series.js";
import { part, problemOf } from "../core/parts.js";
import { stateOfTrial } from "../core/tab.js";
import { trialFrame } from "../components/trial_frame.js";

const OVERVIEW_MS = 4000;
const SLOW_MS = 60_000;
const PROGRESS_MS = 15_000; // while nothing is wrong: the stream tells the rest
const DECISIONS = ["snapshot", "promotion", "reset", "rollback", "population"];
const SHOWN_EVENTS = 30;
const ROUTINE = ["generation.recorded", "version.recorded", "ratings.fitted", "gate.waiting", "tournament.created"];
export const enter = prefetchCharts;
export const title = ({ trial }) => trial.name;
export const stateOf = ({ trial, now }) => stateOfTrial(trial, now?.troubles);
export const trialOf = (context) => context.parameters.trial;

export async function load(context) {
  const { parameters, state, query } = context;
  const root = `/trials/${parameters.trial}`;
  const asked = get(root);
  const askedPlayers = part(seldom(context, "players", () => getAll(`${root}/players`)));
  const [trial, now, overview, players, ratings, series, decisions, marks, anchor, plans] = await Promise.all([
    asked,
    part(
      asked.then(({ status }) => (OVER.includes(status) ? null : progress(context, root))),
      { troubles: [] },
    ),
    part(get(`${root}/overview`), {}),
    askedPlayers,
    part(seldom(context, "ratings", () => getAll(`${root}/ratings`, {}, { maximum: 1000 }))),
    part(readMetrics(context, root, askedPlayers, query), { names: [], metrics: [] }),
    part(seldom(context, "decisions", () => get(`${root}/decisions`, { limit: 25, kind: DECISIONS }).then(({ items }) => items))),
    part(seldom(context, "marks", () => get(`${root}/decisions`, { limit: 200, kind: ["reset", "promotion"] }).then(({ items }) => items))),
    part(seldom(context, "anchor", () => readAnchor(root))),
    part(asked.then(({ spec }) => (spec.league?.preset === "psro" ? seldom(context, "plans", () => readPlan(root)) : []))),
  ]);
  state.overview = overview;
  return {
    trial,
    now,
    overview,
    players,
    ratings,
    series,
    metrics: inOrder(series.metrics, bestFirst(players, ratings)),
    metricNames: series.names,
    decisions,
    marks,
    anchors: anchor,
    anchor: anchor[0],
    plans,
  };
}

/** The version that is zero on the Elo axis, in a list; an empty one where there is no fit yet. */
async function readAnchor(root) {
  const { fit } = await get(`${root}/ratings`, { limit: 1 });
  return fit?.anchor_version_id ? [await get(`/versions/${fit.anchor_version_id}`)] : [];
}

const readPlan = (root) => get(`${root}/decisions`, { limit: 1, kind: "matchmaking" }).then(({ items }) => items);

/** The series on display, of which only newer points are read again. */
async function readMetrics(context, root, askedPlayers, query) {
  const { state, parameters } = context;
  const names = await seldom(context, "names", () => get(`${root}/metrics/names`).then((found) => found.names));
  const wanted = namesOnDisplay(names, query);
  state.series ??= new Map();
  const learning = (await askedPlayers).filter((player) => LEARNS.includes(player.role) && player.status === "active");
  const isRead = wanted.every((name) => state.series.has(name));
  const read = () => readSeries(state.series, parameters.trial, wanted, learning);
  const metrics = isRead ? await seldom(context, `series ${wanted.join()}`, read) : await read();
  return { names, metrics };
}

/** What keeps the trial from going on: asked for again at every load while something does, or after an event of trouble. */
async function progress({ state }, root) {
  const { at = 0, value } = state.progressRead ?? {};
  if (value && !value.troubles.length && !state.trouble && Date.now() - at < PROGRESS_MS) return value;
  state.trouble = false;
  state.progressRead = { at: Date.now(), value: await get(`${root}/progress`) };
  return state.progressRead.value;
}

/** Long lists are read again only after a while, and then even without an event: the page stays open for days. */
async function seldom(context, name, read) {
  const { state, parameters } = context;
  state.slow ??= {};
  const age = Date.now() - (state.slow[name]?.at ?? 0);
  if (age < SLOW_MS) {
    state.slowDue ??= setTimeout(() => {
      state.slowDue = null;
      if (trialIsShown(parameters.trial) && document.visibilityState === "visible") context.refresh();
    }, SLOW_MS - age);
    return state.slow[name].value;
  }
  const value = await read();
  state.slow[name] = { at: value.length ? Date.now() : 0, value }; // the first ones are shown at once
  return value;
}

export function onEvent(event, context) {
  if (event.type === "progress") {
    context.state.progress = { generations: event.generations, speed: event.speed };
    return "redraw";
  }
  if (event.type === "trial.status") Object.assign(context.state, { slow: {}, trouble: true }); // everything as it is now
  if (event.level === "bad") context.state.trouble = true;
  if (event.transient) overviewSoon(context); // a batch of a gate, a pairing: nothing else has changed
  return !event.transient;
}

function overviewSoon(context) {
  const { state, parameters } = context;
  state.overviewDue ??= setTimeout(async () => {
    state.overviewDue = null;
    if (!trialIsShown(parameters.trial) || document.visibilityState !== "visible") return;
    state.overview = await get(`/trials/${parameters.trial}/overview`).catch(() => state.overview);
    if (trialIsShown(parameters.trial)) context.redraw();
  }, OVERVIEW_MS);
}

const trialIsShown = (id) => location.pathname === `/trials/${id}`;

export function view(data, context) {
  const { trial, now, players, series } = data;
  const learning = players.filter((player) => LEARNS.includes(player.role) && player.status === "active");
  const look = chartView(context.query, data.players);
  const overview = context.state.overview ?? data.overview;
  const speed = trial.status === "running" ? (context.state.progress?.speed ?? now?.speed) : null;
  return trialFrame(
    trial,
    context,
    troubleStrip(trial, now?.troubles, problemOf(now)),
    orProblem(overview, () => nowRow({ trial, overview, troubles: now?.troubles }, speed)),
    h(
      "div",
      { class: "grid", key: "now" },
      card("What happens", happenings(trial, players, overview)),
      trial.status === "running"
        ? card(
            "Running",
            orProblem(players, () => underWay(learning, context, now?.behind)),
          )
        : card(
            OVER.includes(trial.status) ? "Outcome" : "Status",
            orProblem(players, () => standing(data)),
          ),
    ),
    h(
      "div",
      { class: "filters", key: "look" },
      viewControls(look, context, players.length),
      h("a", { href: `/trials/${trial.id}/metrics` }, "All metrics"),
    ),
    h(
      "div",
      { class: "grid", key: "curves" },
      card(`Rating over ${look.over === "time" ? "time" : "steps"}`, rated(data, look)),
      orProblem(data.plans, () => mixtureCard(data)),
      nashConv(data, look),
      card(
        "Throughput",
        orProblem(series, () =>
          metricChart("throughput", "Steps per second, one line per player", data.metrics, THROUGHPUT, "steps/s", look),
        ),
      ),
      problemOf(series) ? card("Losses", orProblem(series)) : losses(data, context, look),
      agentMetrics(data, context, look),
      schedules(data, context, look),
      card("Budget", budget(data, speed)),
    ),
    h("div", { key: "players" }, playerCard(data)),
    h("div", { class: "grid", key: "details" }, decided(data), card("Details", details(trial))),
  );
}

const rated = (data, look) =>
  orProblem(data.ratings, () => [
    data.ratings.length ? ratingChart(data, look) : noRatings(data.trial),
    problemWith("Resets and promotions", data.marks),
    problemWith("Who is zero on this axis", data.anchors),
  ]);

function playerCard({ trial, players, ratings, metrics }) {
  const problem = problemOf(players);
  return card(
    problem ? "Players" : `Players (${players.length})`,
    orProblem(players, () => playerTable(players, ratings, metrics, trial.spec)),
    problem ? null : problemWith("Their ratings", ratings),
  );
}

const noRatings = (trial) =>
  h(
    "p",
    { class: "quiet waits-for-chart" },
    "No rating games yet. Ratings come from tournaments, scheduled by the trial or ",
    hasScope("operator")
      ? h("a", { href: `/tournaments/new?project=${trial.project}&trial=${trial.name}` }, "started manually")
      : "started by an operator",
    ".",
  );

/** Replace the ids of players in a reason by their names. */
function named(reason, players) {
  return reason.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => players.find((player) => player.id === id)?.name ?? id);
}

/** Events in words, without those that every generation has: the bars beside them show these. */
function happenings(trial, players, overview) {
  const came = recentEvents().filter((event) => !ROUTINE.includes(event.type));
  return happeningList(withMoves(came, overview.champion_elsewhere).slice(0, SHOWN_EVENTS), trial, players);
}

function decided({ decisions, players }) {
  if (problemOf(decisions)) return card("Decisions", orProblem(decisions));
  if (!decisions.length) return null;
  return card(
    "Decisions",
    h(
      "ol",
      { class: "events", tabindex: 0, "aria-label": "Decisions" },
      decisions.map((each) =>
        h(
          "li",
          { key: each.id },
          h("time", { datetime: each.created_at }, time(each.created_at)),
          " ",
          eventText(`${each.player ?? ""} ${humanize(each.kind)}: `, each, players),
          h("strong", {}, each.verdict),
          " – ",
          eventText(named(each.reason, players), each, players),
        ),
      ),
    ),
  );
}
