// Overview of a trial: running generations, budget, ratings, throughput, losses, events, players.
import { get, getAll } from "../core/api.js";
import { bandedLine, chart, prefetchCharts } from "../charts/line_charts.js";
import { h } from "../core/dom.js";
import { about, duration, fixed, percent, short, since, speedText, versionName, whole, humanize } from "../core/format.js";
import { agentMetrics, losses, metricChart, schedules } from "../components/metric_charts.js";
import { playerTable } from "../components/player_table.js";
import { bar, card, eventList, facts, time, versionLink } from "../components/widgets.js";
import { recentEvents } from "../core/event_stream.js";
import { trialFrame } from "../components/trial_frame.js";

const OVER = ["stopped", "completed", "failed"];
export const enter = prefetchCharts;
export const title = ({ trial }) => trial.name;
export const trialOf = (context) => context.parameters.trial;

export async function load({ parameters }) {
  const root = `/trials/${parameters.trial}`;
  const asked = get(root);
  const [trial, now, champion, players, ratings, metrics, decisions] = await Promise.all([
    asked,
    asked.then(({ status }) => (OVER.includes(status) ? null : get(`${root}/progress`))),
    asked.then(championOf),
    getAll(`${root}/players`),
    getAll(`${root}/ratings`, {}, { maximum: 1000 }),
    getAll(`${root}/metrics`, { points: 300 }, { maximum: 500 }),
    get(`${root}/decisions`, { limit: 25, kind: ["snapshot", "promotion", "reset", "rollback", "population"] }),
  ]);
  return { trial, now, champion, players, ratings, metrics, decisions: decisions.items };
}

const aliasOf = (trial) => trial.spec.league?.champion_gate?.alias ?? "champion"; // the one that its gate moves
async function championOf(trial) {
  const aliases = await getAll(`/projects/${encodeURIComponent(trial.project)}/aliases`);
  const found = aliases.find((alias) => alias.name === aliasOf(trial) && alias.game === trial.game);
  return found ? get(`/versions/${found.version_id}`) : null;
}

export function onEvent(event, context) {
  if (event.type !== "progress") return !event.transient;
  context.state.progress = { at: Date.now(), generations: event.generations, speed: event.speed };
  return "redraw";
}

export function view(data, context) {
  const { trial, players, ratings } = data;
  const learning = players.filter((player) => !["historical", "bot"].includes(player.role) && player.status === "active");
  return trialFrame(
    trial,
    context,
    h(
      "div",
      { class: "grid", key: "now" },
      trial.status === "running"
        ? card("Running", underWay(learning, context))
        : card(OVER.includes(trial.status) ? "Outcome" : "Status", standing(data)),
      card("Budget", budget(data, context)),
    ),
    h(
      "div",
      { class: "grid", key: "curves" },
      card("Rating over steps", ratings.length ? ratingChart(ratings, players) : noRatings(trial)),
      card(
        "Throughput",
        metricChart("throughput", "Steps per second over steps, one line per player", data.metrics, "steps_per_second", "steps/s"),
      ),
      card("Losses", losses(data, context)),
      agentMetrics(data, context),
      schedules(data, context),
      card("Events", events(data)),
    ),
    h("div", { key: "players" }, card(`Players (${players.length})`, playerTable(players, ratings, data.metrics, trial.spec))),
  );
}

function standing({ trial, champion, players, ratings }) {
  const [best] = ratings; // the API sorts by rating
  const count = (roles) => players.filter((player) => roles.includes(player.role)).length;
  const took = trial.started_at && trial.finished_at ? (new Date(trial.finished_at) - new Date(trial.started_at)) / 1000 : null;
  return [
    OVER.includes(trial.status) ? null : h("p", {}, `No generation is running: the trial is ${trial.status}.`),
    facts([
      ["Champion", champion ? versionLink(champion.id, versionName(champion.player, champion.number)) : "none yet"],
      [
        "Best rated",
        best
          ? [versionLink(best.version_id, versionName(best.player, best.number)), ` at ${fixed(best.value, 0)} Elo`]
          : "no rating games yet",
      ],
      ["Duration", took === null ? null : duration(took)],
      ["Average speed", took && trial.steps ? `${whole(trial.steps / took)} steps/s` : null],
      ["Learning players", whole(count(["main", "main_exploiter", "league_exploiter"]))],
      ["Snapshots", whole(count(["historical"]))],
      [
        "Next",
        trial.status === "paused"
          ? "Resume to continue training."
          : OVER.includes(trial.status) && champion
            ? h("a", { href: `/play/${champion.id}` }, "Play against the champion")
            : null,
      ],
    ]),
  ];
}

function underWay(learning, { state }) {
  const live = new Map((state.progress?.generations ?? []).map((each) => [each.player_id, each]));
  return h(
    "ul",
    { class: "underway" },
    learning.map((player) => {
      const now = live.get(player.id);
      const { steps = 0, target, steps_per_second: speed, waiting } = now?.progress ?? {};
      return h(
        "li",
        { key: player.id },
        h("div", { class: "title" }, h("strong", {}, player.name), h("small", {}, humanize(player.role))),
        bar(steps, target ?? 1, `${player.name}: generation under way`),
        h(
          "small",
          {},
          `generation ${now?.generation ?? player.generation + 1}`,
          now?.attempt > 1 ? ` · attempt ${now.attempt}` : "",
          target ? ` · ${short(steps)} of ${short(target)} steps · ${short(speed)} steps/s` : waiting ? "" : " · waiting for a crew",
          waiting ? ` · waits for ${waiting}` : "",
        ),
      );
    }),
  );
}

function budget({ trial, now }, { state }) {
  const limits = trial.spec.budget ?? {};
  const speed = trial.status === "running" ? (state.progress?.speed ?? now?.speed) : null;
  const left = limits.steps ? Math.max(0, limits.steps - trial.steps) : null;
  return [
    limits.steps ? bar(trial.steps, limits.steps, "Step budget used") : null,
    facts([
      ["Steps", `${whole(trial.steps)}${limits.steps ? ` of ${whole(limits.steps)} (${percent(trial.steps / limits.steps)})` : ""}`],
      [
        "Left",
        left === null ? null : `${whole(left)} steps${speed?.seconds_left ? `, about ${about(speed.seconds_left)} at this speed` : ""}`,
      ],
      ["Speed", speed ? `${speedText(speed)} over the last ${duration(speed.measured_seconds)}` : null],
      ["Time limit", limits.wall_clock ?? null],
      ["Target", limits.until ? `${percent(limits.until.win_rate)} against ${limits.until.opponent}` : null],
      ["Started", trial.started_at ? [time(trial.started_at), trial.finished_at ? "" : ` (${since(trial.started_at)} ago)`] : null],
      ["Ended", trial.finished_at ? time(trial.finished_at) : null],
      [
        "Forked from",
        trial.forked_from_trial_id ? h("a", { href: `/trials/${trial.forked_from_trial_id}` }, `commit ${trial.forked_at_commit}`) : null,
      ],
      ["Commit", whole(trial.last_commit)],
      ["Seed", h("code", {}, trial.seed)],
    ]),
    h("details", {}, h("summary", {}, "Trial file with defaults"), h("pre", { tabindex: 0 }, JSON.stringify(trial.spec, null, 2))),
  ];
}

const elo = (rating) => `${fixed(rating.value, 0)} Elo (${fixed(rating.low, 0)} to ${fixed(rating.high, 0)})`;

function ratingChart(ratings, players) {
  const lines = new Map();
  for (const rating of [...ratings].sort((a, b) => a.steps - b.steps)) {
    const line = rating.player.replace(/-\d+$/, ""); // a snapshot belongs to its player's line
    lines.set(line, [...(lines.get(line) ?? []), rating]);
  }
  const place = (name) => players.findIndex((player) => player.name === name); // same order and colours as the other charts
  const many = [...lines].sort(([one], [other]) => place(one) - place(other));
  const data = many.slice(0, 6).flatMap(([name, rated], order) =>
    bandedLine({
      name,
      order,
      x: rated.map((each) => each.steps),
      y: rated.map((each) => each.value),
      low: rated.map((each) => each.low),
      high: rated.map((each) => each.high),
      text: rated.map((each) => `${versionName(each.player, each.number)}<br>${elo(each)}<br>${each.games} games`),
    }),
  );
  return chart(
    "ratings",
    "Elo over steps with 95 percent bands",
    () => ({ data, layout: { xaxis: { title: { text: "steps" } }, yaxis: { title: { text: "Elo" } } } }),
    [ratings],
  );
}

const noRatings = (trial) =>
  h(
    "p",
    { class: "quiet" },
    "No rating games yet. Ratings come from tournaments, scheduled by the trial or ",
    h("a", { href: `/tournaments/new?project=${trial.project}&trial=${trial.name}` }, "started manually"),
    ".",
  );

/** Replace the ids of players in a reason by their names. */
function named(reason, players) {
  return reason.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => players.find((player) => player.id === id)?.name ?? id);
}

function events({ decisions, players }) {
  const came = recentEvents();
  return [
    came.length ? eventList(came) : h("p", { class: "quiet" }, "New events appear here."),
    decisions.length
      ? [
          h("h3", {}, "Decisions"),
          h(
            "ol",
            { class: "events", tabindex: 0, "aria-label": "Decisions" },
            decisions.map((each) =>
              h(
                "li",
                { key: each.id },
                h("time", { datetime: each.created_at }, time(each.created_at)),
                ` ${each.player ?? ""} ${humanize(each.kind)}: `,
                h("strong", {}, each.verdict),
                ` – ${named(each.reason, players)}`,
              ),
            ),
          ),
        ]
      : null,
  ];
}
