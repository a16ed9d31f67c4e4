// All tournaments, running and finished.
import { get, getAll, hasScope } from "../core/api.js";
import { h } from "../core/dom.js";
import { gameName, humanize, versionLabel, whole } from "../core/format.js";
import { LruCache } from "../core/lru_cache.js";
import { part } from "../core/parts.js";
import { badge, bar, empty, pick, problemWith, table, time, versionLink } from "../components/widgets.js";

export const title = () => "Tournaments";
export const onEvent = (event) => /^(tournament|pairing|ratings)\./.test(event.type);

/** Who started a tournament. Every generation may be measured by one of its own: these would hide all others. */
const ORIGINS = {
  "": ["request", "schedule"],
  request: ["request"],
  schedule: ["schedule"],
  evaluations: ["field_evaluation", "target_evaluation"],
  all: [],
};
const STARTED_BY = { request: "a person", schedule: "a schedule", field_evaluation: "an evaluation", target_evaluation: "an evaluation" };
const ORIGIN_NAMES = [
  ["", "people and schedules"],
  ["request", "people"],
  ["schedule", "schedules"],
  ["evaluations", "evaluations of generations"],
  ["all", "all"],
];

const MOST_WINNERS = 60; // the newest; older rows show no winner
const AT_ONCE = 4;
const winners = new LruCache(500); // by tournament: the standings of a finished one never change

export async function load(context) {
  const { query } = context;
  const purpose = ORIGINS[query.origin ?? ""] ?? [];
  const which = { project: query.project, status: query.status, schedule_id: query.schedule, trial_id: query.trial, purpose };
  const [tournaments, projects] = await Promise.all([
    getAll("/tournaments", { ...which, limit: 100 }, { maximum: 300 }),
    part(getAll("/projects")),
  ]);
  askForWinners(tournaments, context);
  const hidden = !tournaments.length && purpose.length ? (await get("/tournaments", { ...which, purpose: [], limit: 1 })).items.length : 0;
  return { tournaments, projects, hidden };
}

/** Read who leads the standings of finished tournaments, a few at a time, and show them when all are known. */
async function askForWinners(tournaments, context) {
  const ended = tournaments.filter((each) => each.status === "completed").slice(0, MOST_WINNERS);
  const missing = ended.filter((each) => winners.get(each.id) === undefined);
  if (!missing.length) return;
  const next = async () => {
    for (let each = missing.pop(); each; each = missing.pop()) {
      const { items } = await get(`/tournaments/${each.id}/standings`, { limit: 2 });
      winners.set(
        each.id,
        items.filter((line) => line.rank === 1),
      );
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next)).catch(() => {}); // the list is whole without them
  context.redraw();
}

/** Who won a finished tournament; two who share the first place are both named. */
function winnerOf({ id, status }) {
  const first = status === "completed" ? winners.get(id) : undefined;
  if (!first?.length) return "–";
  return first.flatMap((line, place) => [place ? ", " : "", versionLink(line.version_id, versionLabel(line.label))]);
}

export function view({ tournaments: found, projects, hidden }, context) {
  const { query } = context;
  const wanted = (query.q ?? "").toLowerCase();
  const tournaments = found.filter((each) => `${each.name} ${each.project} ${each.game} ${each.format}`.toLowerCase().includes(wanted));
  return [
    h(
      "div",
      { class: "title", key: "title" },
      h("h1", {}, "Tournaments"),
      hasScope("operator") && h("a", { class: "button", href: "/tournaments/new" }, "Start a tournament"),
    ),
    h(
      "div",
      { class: "filters", key: "filters", role: "search" },
      h(
        "label",
        { class: "pick" },
        "Search ",
        h("input", { type: "search", name: "q", value: query.q ?? "", oninput: (event) => context.setQuery({ q: event.target.value }) }),
      ),
      pick("Started by", "origin", ORIGIN_NAMES, query.origin ?? "", (value) => context.setQuery({ origin: value })),
      pick("Project", "project", [["", "all"], ...projects.map((each) => [each.name, each.name])], query.project ?? "", (value) =>
        context.setQuery({ project: value }),
      ),
      pick(
        "Status",
        "status",
        ["", "pending", "running", "completed", "cancelled", "failed"].map((each) => [each, each || "all"]),
        query.status ?? "",
        (value) => context.setQuery({ status: value }),
      ),
      problemWith("The projects", projects),
    ),
    tournaments.length
      ? h(
          "section",
          { class: "card", key: "list", "aria-label": "Tournaments" },
          table(
            "Tournaments",
            [
              ["Name", (each) => h("a", { href: `/tournaments/${each.id}` }, each.name)],
              ["Winner", winnerOf],
              ["Project", (each) => h("a", { href: `/tournaments?project=${encodeURIComponent(each.project)}` }, each.project)],
              ["Game", (each) => gameName(each.game)],
              ["Format", (each) => humanize(each.format)],
              ["Status", (each) => badge(each.status)],
              ["Entrants", (each) => each.entrants, "number"],
              [
                "Pairings",
                (each) => [
                  bar(each.pairings_played, each.pairings_known, `Progress of ${each.name}`),
                  h("small", {}, `${whole(each.pairings_played)} of ${whole(each.pairings_known)}`),
                ],
              ],
              ["Started by", (each) => STARTED_BY[each.purpose] ?? "–"],
              ["Created", (each) => time(each.created_at)],
            ],
            tournaments,
            (each) => each.id,
          ),
        )
      : hidden
        ? empty(
            `No tournaments of ${ORIGIN_NAMES.find(([value]) => value === (query.origin ?? ""))?.[1] ?? "this kind"}`,
            "The others are hidden: a trial plays tournaments of its own to measure its generations. ",
            h("button", { class: "plain", onclick: () => context.setQuery({ origin: "all" }) }, "Show all tournaments"),
          )
        : empty(
            found.length || query.origin || query.q ? "No matching tournaments" : "No tournaments",
            "A tournament rates versions against each other. ",
            hasScope("operator") && [
              h("a", { href: "/tournaments/new" }, "Start one"),
              ", or ",
              h("a", { href: "/schedules" }, "make a schedule"),
              ".",
            ],
          ),
  ];
}
