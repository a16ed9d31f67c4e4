// What waits for what: generations for crews, candidates for gates, tasks for workers.
import { h } from "../core/dom.js";
import { duration, whole } from "../core/format.js";
import { card } from "./widgets.js";

export function waitingCard(queues, trials) {
  const tasks = (queues ?? [])
    .filter((queue) => queue.backlog)
    .map((queue) =>
      h("li", {}, `${whole(queue.backlog)} tasks wait in the queue ${queue.name}, the oldest for ${duration(queue.backlog_age_seconds)}.`),
    );
  const work = trials.flatMap(({ trial, now }) => [
    ...now.troubles.map((text) => entry(trial, text.split("\n")[0])),
    ...now.generations.filter((each) => each.waiting).map((each) => entry(trial, `${each.player} waits for ${each.waiting}`)),
  ]);
  return h(
    "div",
    { key: "waiting" },
    card("What waits", tasks.length + work.length ? h("ul", {}, tasks, work) : h("p", { class: "quiet" }, "Nothing waits.")),
  );
}

const entry = (trial, text) => h("li", {}, h("a", { href: `/trials/${trial.id}` }, trial.name), `: ${text}`);
