// All trials, as cards (progress, throughput, champion, actions) or as a table (sort, several at once); the server filters and sorts.
import { get, getAll, hasScope, session } from "../core/api.js";
import { h } from "../core/dom.js";
import { gameName, messageAndTrace, percent, short, speedText, versionName } from "../core/format.js";
import { LruCache } from "../core/lru_cache.js";
import { trialName } from "../core/strangers.js";
import { budgetUsed, endText } from "../core/trial_end.js";
import { badge, bar, empty, ofTrial, pick, problemWith, sparkline, time, versionLink } from "../components/widgets.js";
import { stateOfTrial } from "../core/tab.js";
import { part, problemOf } from "../core/parts.js";
import { refreshWhileVisible } from "../components/health_cards.js";
import { healthSign, tagList, trialActions } from "../components/trial_frame.js";
import { bulkBar } from "../components/bulk_actions.js";
import { trialTable } from "../components/trial_table.js";

const STATUSES = ["pending", "running", "pausing", "paused", "stopping", "stopped", "completed", "failed"];
const SORTS = { newest: "-created", name: "name", steps: "-steps", status: "status" }; // those of the cards, by their names
const NEWEST = "-created";
const PAGE = 50;
const MOST = 500;
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
  const { view: kind, shown } = context.query;
  const [{ trials, more }, projects] = await Promise.all([
    someTrials(context.query, Math.min(MOST, Number(shown) || PAGE)),
    part(getAll("/projects")),
  ]);
  loadDetails(trials.slice(0, DETAILED), context, kind !== "table").catch(() => {}); // the list is complete without them
  if (kind === "table") return { trials, more, projects, champions: new Map() };
  const champions = await part(championsOf(new Set(trials.map((trial) => trial.project))), new Map());
  return { trials, more, projects, champions };
}

/** The first trials in the order asked for, and whether there are more. */
async function someTrials({ project, status, archived, q, tag, sort }, wanted) {
  const asked = { project, status, q, tag, sort: SORTS[sort] ?? sort, archived: archived || undefined, limit: wanted };
  const { items, next_cursor: more } = await get("/trials", asked);
  return { trials: items, more: more !== null && more !== undefined };
}

async function championsOf(projects) {
  const found = new Map();
  await Promise.all(
    [...projects].map(async (project) => {
      for (const alias of await getAll(`/projects/${encodeURIComponent(project)}/aliases`)) {
        if (alias.name !== "champion") continue;
        const version = championVersions.get(alias.version_id) ?? (await get(`/versions/${alias.version_id}`));
        championVersions.set(alias.version_id, version);
        found.set(`${project} ${alias.game}`, { ...version, trial: await trialName(version.trial_id) });
      }
    }),
  );
  return found;
}

async function loadDetails(trials, context, withRatings) {
  for (const trial of trials) {
    if (location.pathname !== "/trials" || !session.user) return;
    const known = details.get(trial.id);
    const [ratings, now] = await Promise.all([
      known?.commit === trial.last_commit || !withRatings
        ? known?.ratings
        : get(`/trials/${trial.id}/ratings`, { limit: 500 }).then(leaderRatings),
      trial.status !== "running" ? null : Date.now() - known?.at < SPEED_MS ? known.now : get(`/trials/${trial.id}/progress`),
    ]);
    const at = now && now !== known?.now ? Date.now() : known?.at;
    details.set(trial.id, { commit: withRatings ? trial.last_commit : known?.commit, ratings, now, at });
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

export function view({ trials, more, projects, champions }, context) {
  const { q = "", status = "", project = "", tag = "", shown, view: kind } = context.query;
  const selected = (context.state.selected ??= new Set());
  return [
    h(
      "div",
      { class: "title", key: "title" },
      h("h1", {}, "Trials"),
      hasScope("operator") && h("a", { class: "button", href: "/trials/new" }, "Start a trial"),
    ),
    filters(projects, context),
    problemOf(champions) && h("div", { key: "champions" }, problemWith("The champions", champions)),
    kind === "table" && bulkBar(chosen(trials, selected), { clear: () => select(selected, [], context), refresh: context.refresh }),
    !trials.length
      ? nothing(q || status || project || tag)
      : kind === "table"
        ? h(
            "section",
            { class: "card", key: "table", "aria-label": "Table of trials" },
            trialTable(trials, {
              sort: sortOf(context),
              setSort: (sort) => context.setQuery({ sort: sort === NEWEST ? "" : sort }),
              selected,
              toggle: (id, on) => select(selected, on ? [...selected, id] : [...selected].filter((each) => each !== id), context),
              nowOf: (trial) => details.get(trial.id)?.now,
              toggleAll: (on) => select(selected, on ? trials.map((trial) => trial.id) : [], context),
            }),
          )
        : h(
            "ul",
            { class: "trials", key: "list" },
            trials.map((trial) => row(trial, champions, context)),
          ),
    more && moreButton(trials, shown, context),
  ];
}

const sortOf = ({ query }) => SORTS[query.sort] ?? (query.sort || NEWEST);
const chosen = (trials, selected) => trials.filter((trial) => selected.has(trial.id));

function select(selected, ids, context) {
  selected.clear();
  for (const id of ids) selected.add(id);
  context.redraw();
}

const moreButton = (trials, shown, context) =>
  trials.length < MOST
    ? h(
        "button",
        { class: "plain", key: "more", onclick: () => context.setQuery({ shown: (Number(shown) || PAGE) + PAGE }) },
        `Show ${PAGE} more`,
      )
    : h("p", { class: "quiet", key: "more" }, `The first ${MOST} are shown. Search, or filter, for others.`);

function filters(projects, context) {
  const { q = "", status = "", project = "", tag = "", archived, view: kind = "" } = context.query;
  return h(
    "form",
    { class: "filters", role: "search", key: "filters", onsubmit: (event) => event.preventDefault() },
    h(
      "label",
      { class: "pick" },
      "Search ",
      h("input", { type: "search", name: "q", value: q, maxlength: 200, oninput: (event) => context.setQuery({ q: event.target.value }) }),
    ),
    pick("Project", "project", [["", "all"], ...projects.map((each) => [each.name, each.name])], project, (value) =>
      context.setQuery({ project: value }),
    ),
    pick("Status", "status", [["", "all"], ...STATUSES.map((each) => [each, each])], status, (value) =>
      context.setQuery({ status: value }),
    ),
    h(
      "label",
      { class: "pick" },
      "Tag ",
      h("input", { type: "search", name: "tag", value: tag, size: 10, onchange: (event) => context.setQuery({ tag: event.target.value }) }),
    ),
    kind !== "table" &&
      pick(
        "Sort by",
        "sort",
        Object.keys(SORTS).map((each) => [each, each]),
        Object.keys(SORTS).find((each) => SORTS[each] === sortOf(context)) ?? "newest",
        (value) => context.setQuery({ sort: value === "newest" ? "" : value }),
      ),
    h(
      "label",
      { class: "pick" },
      h("input", {
        type: "checkbox",
        checked: Boolean(archived),
        onchange: (event) => context.setQuery({ archived: event.target.checked ? "true" : "" }),
      }),
      " archived too",
    ),
    h(
      "span",
      { class: "tabs", role: "group", "aria-label": "View" },
      [
        ["", "Cards"],
        ["table", "Table"],
      ].map(([value, name]) =>
        h(
          "button",
          { class: "tab", type: "button", "aria-pressed": kind === value, onclick: () => context.setQuery({ view: value, sort: "" }) },
          name,
        ),
      ),
    ),
    problemWith("The projects", projects),
  );
}

const nothing = (filtered) =>
  filtered
    ? empty("No matching trials", "Change the filter, or ", h("a", { href: "/trials" }, "show all"), ".")
    : empty(
        "No trials yet",
        "A trial is one league in training. ",
        hasScope("operator")
          ? [h("a", { href: "/trials/new" }, "Start one from an example"), ", or run "]
          : "An operator starts one, or runs ",
        h("code", {}, "lanista demo"),
        ".",
      );

/** One line, whatever it says, so that trouble moves nothing. */
function stateLine(trial, more) {
  const trouble = trial.status === "failed" ? trial.status_reason : more?.now?.troubles[0];
  if (!trouble) return h("p", { class: "quiet one-line" }, "created ", time(trial.created_at));
  const { message } = messageAndTrace(trouble);
  return h("p", { class: "bad one-line", title: message }, message);
}

function endLine(trial, speed) {
  const { value, more, bad } = endText(trial, speed);
  if (!more) return null;
  if (bad) return h("small", {}, `no end at this speed: ${more}`);
  return h("small", {}, value.startsWith("not ") ? `end ${value}: ${more}` : `ends ${value}, ${more}`);
}

function row(trial, champions, context) {
  const more = details.get(trial.id);
  const champion = champions.get(`${trial.project} ${trial.game}`);
  const running = trial.status === "running";
  const used = budgetUsed(trial);
  return h(
    "li",
    { class: "card", key: trial.id },
    h(
      "div",
      { class: "who" },
      h(
        "h2",
        {},
        healthSign(trial, more?.now),
        h("a", { href: `/trials/${trial.id}` }, trial.name),
        " ",
        badge(trial.status),
        tagList(trial.tags),
      ),
      h(
        "p",
        { class: "quiet" },
        h("a", { href: `/trials?project=${encodeURIComponent(trial.project)}` }, trial.project),
        " · ",
        gameName(trial.game),
      ),
      stateLine(trial, more),
    ),
    h(
      "div",
      { class: "far" },
      used === null ? null : bar(used, 1, `Progress of ${trial.name}`),
      h(
        "small",
        {},
        short(trial.steps),
        " steps",
        used === null ? "" : ` · ${percent(used)}`,
        running && more?.now?.speed ? ` · ${speedText(more.now.speed)}` : "",
      ),
      running ? endLine(trial, more?.now?.speed) : null,
    ),
    h(
      "div",
      { class: "lead" },
      more?.ratings ? sparkline(more.ratings, `Ratings of ${trial.name} over steps`) : null,
      h(
        "small",
        {},
        "Champion ",
        champion ? versionLink(champion.id, versionName(champion.player, champion.number)) : problemOf(champions) ? "not known" : "–",
        champion && champion.trial_id !== trial.id ? ofTrial(champion.trial_id, champion.trial) : "",
      ),
    ),
    trialActions(trial, context),
  );
}
