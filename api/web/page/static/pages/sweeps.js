// All sweeps, running and finished.
import { getAll, hasScope } from "../core/api.js";
import { h } from "../core/dom.js";
import { part } from "../core/parts.js";
import { badge, bar, empty, pick, problemWith, table, time } from "../components/widgets.js";
import { shortValue } from "./sweep.js";

export const title = () => "Sweeps";
export const onEvent = (event) => event.type.startsWith("sweep.");

export async function load({ query }) {
  const [sweeps, projects] = await Promise.all([
    getAll("/sweeps", { project: query.project, status: query.status, limit: 100 }, { maximum: 300 }),
    part(getAll("/projects")),
  ]);
  return { sweeps, projects };
}

export function view({ sweeps, projects }, context) {
  const { query } = context;
  return [
    h(
      "div",
      { class: "title", key: "title" },
      h("h1", {}, "Sweeps"),
      hasScope("operator") && h("a", { class: "button", href: "/sweeps/new" }, "Start a sweep"),
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
        ["", "pending", "running", "paused", "stopping", "stopped", "completed", "failed"].map((each) => [each, each || "all"]),
        query.status ?? "",
        (value) => context.setQuery({ status: value }),
      ),
      problemWith("The projects", projects),
    ),
    sweeps.length
      ? h(
          "section",
          { class: "card", key: "list", "aria-label": "Sweeps" },
          table(
            "Sweeps",
            [
              ["Name", (each) => h("a", { href: `/sweeps/${each.id}` }, each.name)],
              ["Project", (each) => h("a", { href: `/trials?project=${encodeURIComponent(each.project)}` }, each.project)],
              ["Method", (each) => each.method],
              ["Status", (each) => badge(each.status)],
              [
                "Trials",
                (each) => [
                  bar(each.trials_ended, each.trials, `Progress of ${each.name}`),
                  h("small", {}, `${each.trials_ended} of ${each.trials}, ${each.stopped_early} early`),
                ],
              ],
              ["Best trial", (each) => each.best_trial && h("a", { href: `/trials/${each.best_trial_id}` }, each.best_trial)],
              ["Value", (each) => shortValue(each.best_value), "number"],
              ["Created", (each) => time(each.created_at)],
            ],
            sweeps,
            (each) => each.id,
          ),
        )
      : empty("No sweeps", "A sweep searches hyperparameters over many trials: lanista sweep start FILE."),
  ];
}
