// What waits for what: generations for crews, candidates for gates, tasks for workers.
import { h } from "../core/dom.js";
import { counted, duration, percent, since, whole } from "../core/format.js";
import { problemOf } from "../core/parts.js";
import { card, problemWith, table } from "./widgets.js";

export function waitingCard(queues, trials, sharing) {
  const unknown = !queues || problemOf(trials) || problemOf(sharing);
  const tasks = (queues ?? [])
    .filter((queue) => queue.backlog)
    .map((queue) =>
      h("li", {}, `${counted(queue.backlog, "task")} in the queue ${queue.name}, the oldest for ${duration(queue.backlog_age_seconds)}.`),
    );
  const work = trials.flatMap(({ trial, now }) => now.troubles.map((text) => entry(trial, text.split("\n")[0])));
  return h(
    "div",
    { key: "waiting" },
    card(
      "What waits",
      tasks.length + work.length ? h("ul", {}, tasks, work) : h("p", { class: "quiet" }, waits(sharing) || unknown ? "" : "Nothing waits."),
      problemWith("What running trials wait for", trials),
      problemWith("Who waits for whom", sharing),
      sharing.trials.length > 0 && shares(sharing),
    ),
  );
}

const waits = (sharing) => sharing.trials.some((each) => each.waiting.length);
const entry = (trial, text) => h("li", {}, h("a", { href: `/trials/${trial.id}` }, trial.name), `: ${text}`);

const whoWaits = ({ player_id: id, player, reason }) => [h("a", { href: `/players/${id}` }, player), ` waits for ${reason}`];

/** Who waits for whom: one row for each trial that trains. */
function shares({ trials, not_asked: left }) {
  return [
    table(
      "Who waits for whom",
      [
        ["Trial", (each) => h("a", { href: `/trials/${each.trial_id}` }, `${each.project}/${each.trial}`)],
        ["Priority", (each) => (each.project_priority === 1 ? each.priority : `${each.priority} in ${each.project_priority}`), "number"],
        ["Share", (each) => percent(each.share), "number"],
        ["Quota", (each) => each.quota ?? each.project_quota ?? "–", "number"],
        ["Training", (each) => `${whole(each.training)} of ${whole(each.learners)}`, "number"],
        [
          "Waiting",
          (each) => (each.waiting.length ? `${whole(each.waiting.length)}, the longest for ${since(each.waiting[0].since)}` : "–"),
          "number",
        ],
        ["Behind", (each) => each.behind.join(", ") || "–"],
        ["For", (each) => (each.waiting.length ? whoWaits(each.waiting[0]) : "–"), "long"],
      ],
      trials,
      (each) => each.trial_id,
    ),
    left > 0 && h("p", { class: "quiet" }, `${whole(left)} more learning players were not asked.`),
  ];
}
