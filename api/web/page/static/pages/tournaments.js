// All tournaments, running and finished.
import { getAll, hasScope } from "../core/api.js";
import { h } from "../core/dom.js";
import { humanize } from "../core/format.js";
import { badge, bar, empty, pick, table, time } from "../components/widgets.js";

export const title = () => "Tournaments";
export const onEvent = (event) => /^(tournament|pairing|ratings)\./.test(event.type);

export async function load({ query }) {
  const [tournaments, projects] = await Promise.all([
    getAll("/tournaments", { project: query.project, status: query.status, schedule_id: query.schedule, limit: 100 }, { maximum: 300 }),
    getAll("/projects"),
  ]);
  return { tournaments, projects };
}

export function view({ tournaments, projects }, context) {
  const { query } = context;
  return [
    h(
      "div",
      { class: "title", key: "title" },
      h("h1", {}, "Tournaments"),
      hasScope("operator") && h("a", { class: "button", href: "/tournaments/new" }, "Start a tournament"),
    ),
    h(
      "div",
      { class: "filters", key: "filters" },
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
    ),
    tournaments.length
      ? h(
          "section",
          { class: "card", key: "list", "aria-label": "Tournaments" },
          table(
            "Tournaments",
            [
              ["Name", (each) => h("a", { href: `/tournaments/${each.id}` }, each.name)],
              ["Project", (each) => each.project],
              ["Game", (each) => each.game],
              ["Format", (each) => humanize(each.format)],
              ["Status", (each) => badge(each.status)],
              ["Entrants", (each) => each.entrants, "number"],
              [
                "Pairings",
                (each) => [
                  bar(each.pairings_played, each.pairings_known, `Progress of ${each.name}`),
                  h("small", {}, `${each.pairings_played} of ${each.pairings_known}`),
                ],
              ],
              ["Created", (each) => time(each.created_at)],
            ],
            tournaments,
            (each) => each.id,
          ),
        )
      : empty(
          "No tournaments",
          "A tournament rates versions against each other. ",
          h("a", { href: "/tournaments/new" }, "Start one"),
          ", or ",
          h("a", { href: "/schedules" }, "make a schedule"),
          ".",
        ),
  ];
}
