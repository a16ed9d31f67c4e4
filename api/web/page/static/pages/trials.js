// All trials: progress, throughput, champion, and the actions on each.
import { get, getAll, hasScope, session } from "../core/api.js";
import { h } from "../core/dom.js";
import { messageAndTrace, percent, short, speedText, versionName } from "../core/format.js";
import { LruCache } from "../core/lru_cache.js";
import { badge, bar, empty, pick, sparkline, time, versionLink } from "../components/widgets.js";
import { stateOfTrial } from "../core/tab.js";
import { refreshWhileVisible } from "../components/health_cards.js";
import { trialActions } from "../components/trial_frame.js";

const STATUSES = ["pending", "running", "pausing", "paused", "stopping", "stopped", "completed", "failed"];
const SORTS = {
  newest: (a, b) => b.created_at.localeCompare(a.created_at),
  name: (a, b) => a.name.localeCompare(b.name),
  steps: (a, b) => b.steps - a.steps,
  status: (a, b) => STATUSES.indexOf(a.status) - STATUSES.indexOf(b.status),
};
const DETAILED = 30; // trials that get ratings and speed
const SPEED_MS = 5000; // how old a speed may be when the list is loaded again
const EVERY_MS = 10_000; // a league that makes nothing sends no event, and its speed must fall
/** Ratings and speed by trial, with the commit and the time at which they were read: one entry per trial. */
export const details = new LruCache(200);
const championVersions = new LruCache(200);

export const title = () => "Trials";
export const enter = (context) => refreshWhileVisible(context, EVERY_MS);
export const stateOf = ({ trials }) => {
  const states = trials.map((trial) => stateOfTrial(trial, details.get(trial.id)?.now?.troubles));
  const now = states.filter((state, place) => !trials[place].finished_at); // an end, good or bad, is no trouble of today
  return ["trouble", "running", "paused"].find((state) => now.includes(state)) ?? null;
};
export const leave = (context) => clearInterval(context.timer);

export async function load(context) {
  const { project, status, archived } = context.query;
  const [trials, projects] = await Promise.all([
    getAll("/trials", { project, status, archived: archived || undefined, limit: 100 }, { maximum: 300 }),
    getAll("/projects"),
  ]);
  const champions = await championsOf(new Set(trials.map((trial) => trial.project)));
  loadDetails(trials.slice(0, DETAILED), context).catch(() => {}); // the list is complete without them
  return { trials, projects, champions };
}

async function championsOf(projects) {
  const found = new Map();
  await Promise.all(
    [...projects].map(async (project) => {
      for (const alias of await getAll(`/projects/${encodeURIComponent(project)}/aliases`)) {
        if (alias.name !== "champion") continue;
        const version = championVersions.get(alias.version_id) ?? (await get(`/versions/${alias.version_id}`));
        championVersions.set(alias.version_id, version);
        found.set(`${project} ${alias.game}`, version);
      }
    }),
  );
  return found;
}

async function loadDetails(trials, context) {
  for (const trial of trials) {
    if (location.pathname !== "/trials" || !session.user) return;
    const known = details.get(trial.id);
    const [ratings, now] = await Promise.all([
      known?.commit === trial.last_commit ? known.ratings : get(`/trials/${trial.id}/ratings`, { limit: 500 }).then(leaderRatings),
      trial.status !== "running" ? null : Date.now() - known?.at < SPEED_MS ? known.now : get(`/trials/${trial.id}/progress`),
    ]);
    const at = now && now !== known?.now ? Date.now() : known?.at;
    details.set(trial.id, { commit: trial.last_commit, ratings, now, at });
    if (location.pathname === "/trials") context.redraw();
  }
}

/** The ratings of the leader and its snapshots, over steps. */
function leaderRatings({ items: ratings }) {
  const line = (rating) => rating.player.replace(/-\d+$/, "");
  return ratings
    .filter((rating) => rating.steps > 0 && line(rating) === line(ratings[0]))
    .sort((a, b) => a.steps - b.steps)
    .map((rating) => rating.value);
}

export function view({ trials, projects, champions }, context) {
  const { q = "", sort = "newest", status = "", project = "" } = context.query;
  const wanted = trials.filter((trial) => `${trial.project} ${trial.name} ${trial.game}`.toLowerCase().includes(q.toLowerCase()));
  wanted.sort(SORTS[sort] ?? SORTS.newest);
  return [
    h(
      "div",
      { class: "title", key: "title" },
      h("h1", {}, "Trials"),
      hasScope("operator") && h("a", { class: "button", href: "/trials/new" }, "Start a trial"),
    ),
    h(
      "form",
      { class: "filters", role: "search", key: "filters", onsubmit: (event) => event.preventDefault() },
      h(
        "label",
        { class: "pick" },
        "Search ",
        h("input", { type: "search", name: "q", value: q, oninput: (event) => context.setQuery({ q: event.target.value }) }),
      ),
      pick("Project", "project", [["", "all"], ...projects.map((each) => [each.name, each.name])], project, (value) =>
        context.setQuery({ project: value }),
      ),
      pick("Status", "status", [["", "all"], ...STATUSES.map((each) => [each, each])], status, (value) =>
        context.setQuery({ status: value }),
      ),
      pick(
        "Sort by",
        "sort",
        Object.keys(SORTS).map((each) => [each, each]),
        sort,
        (value) => context.setQuery({ sort: value === "newest" ? "" : value }),
      ),
    ),
    wanted.length
      ? h(
          "ul",
          { class: "trials", key: "list" },
          wanted.map((trial) => row(trial, champions, context)),
        )
      : nothing(trials.length || q || status || project),
  ];
}

const nothing = (filtered) =>
  filtered
    ? empty("No matching trials", "Change the filter, or ", h("a", { href: "/trials" }, "show all"), ".")
    : empty(
        "No trials yet",
        "A trial is one league in training. ",
        h("a", { href: "/trials/new" }, "Start one from an example"),
        ", or run ",
        h("code", {}, "lanista demo"),
        ".",
      );

function row(trial, champions, context) {
  const more = details.get(trial.id);
  const champion = champions.get(`${trial.project} ${trial.game}`);
  const running = trial.status === "running";
  return h(
    "li",
    { class: "card", key: trial.id },
    h(
      "div",
      { class: "who" },
      h("h2", {}, h("a", { href: `/trials/${trial.id}` }, trial.name), " ", badge(trial.status)),
      h("p", { class: "quiet" }, trial.project, " · ", trial.game, " · created ", time(trial.created_at)),
      trial.status === "failed" && trial.status_reason ? h("p", { class: "bad" }, messageAndTrace(trial.status_reason).message) : null,
      more?.now?.troubles.length ? h("p", { class: "bad" }, messageAndTrace(more.now.troubles[0]).message) : null,
    ),
    h(
      "div",
      { class: "far" },
      trial.budget_steps ? bar(trial.steps, trial.budget_steps, `Progress of ${trial.name}`) : null,
      h(
        "small",
        {},
        short(trial.steps),
        " steps",
        trial.budget_steps ? ` · ${percent(Math.min(1, trial.steps / trial.budget_steps))}` : "",
        running && more?.now?.speed ? ` · ${speedText(more.now.speed)}` : "",
      ),
    ),
    h(
      "div",
      { class: "lead" },
      more ? sparkline(more.ratings, `Ratings of ${trial.name} over steps`) : null,
      h("small", {}, "Champion ", champion ? versionLink(champion.id, versionName(champion.player, champion.number)) : "–"),
    ),
    trialActions(trial, context),
  );
}
