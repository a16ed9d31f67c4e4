// Task queues with their workers, worker processes, the resources of the Ray cluster, and gateways.
import { h } from "../core/dom.js";
import { bytes, clock, duration, fixed, since, whole } from "../core/format.js";
import { gatewayCard } from "./gateway_card.js";
import { hostCard } from "./host_card.js";
import { badge, card, facts, meter, missing, table } from "./widgets.js";

const PURPOSES = {
  league: "runs the workflows",
  store: "reads and writes Postgres",
  train: "trains generations on Ray",
  play: "plays gates and tournaments on Ray",
  interactive: "interactive requests: replays, moves, imports",
};
const SERVED_BY = {
  league: "store worker",
  store: "store worker",
  train: "train worker",
  play: "train worker",
  interactive: "train worker",
};

export function clusterCards(system) {
  return [
    queueCard(system),
    hostCard(system),
    h("div", { class: "grid", key: "fleet" }, workerCard(system), rayCard(system)),
    gatewayCard(system),
  ];
}

function queueCard({ queues, unknown }) {
  return h(
    "section",
    { class: "card", key: "queues", "aria-label": "Queues" },
    h("h2", {}, "Queues"),
    !queues
      ? missing(unknown?.queues, "Shown again when Temporal responds.")
      : [
          awayNote(queues),
          table(
            "Queues",
            [
              ["Queue", (queue) => h("strong", {}, queue.name)],
              ["State", (queue) => badge(stateOf(queue)), "queue-state"],
              ["Workers", (queue) => whole(queue.pollers), "number"],
              ["Backlog", (queue) => whole(queue.backlog), "number"],
              ["Oldest task", (queue) => (queue.backlog ? duration(queue.backlog_age_seconds) : "–"), "number"],
              ["Purpose", (queue) => PURPOSES[queue.name] ?? "–"],
            ],
            queues,
            (queue) => queue.name,
          ),
        ],
  );
}

const stateOf = (queue) => (!queue.pollers ? "no worker" : queue.backlog ? "busy" : "served");

/** Which workers are away, or that none is: both take the same place, so that nothing below moves. */
function awayNote(queues) {
  const away = [...new Set(queues.filter((queue) => !queue.pollers).map((queue) => SERVED_BY[queue.name] ?? queue.name))];
  if (!away.length) return h("p", { class: "away quiet", key: "served" }, "✓ Every queue has a worker.");
  return h(
    "p",
    { class: "away warning", role: "alert", key: "away" },
    h("strong", {}, `The ${away.join(" and the ")} ${away.length > 1 ? "are" : "is"} not running. `),
    "No work is lost: tasks wait in their queues. The local stack restarts a crashed worker; if it does not, ",
    h("code", {}, "lanista status"),
    " shows the reason.",
  );
}

function workerCard({ workers, unknown }) {
  if (!workers) return card("Workers", missing(unknown?.workers, "Shown again when Temporal responds."));
  const processes = new Map();
  for (const { identity, queue, last_seen: seen, gone } of workers) {
    const known = processes.get(identity) ?? { identity, queues: [], seen, gone };
    known.queues.push(queue);
    if (seen > known.seen) known.seen = seen;
    processes.set(identity, known);
  }
  return card(
    "Workers",
    processes.size
      ? table(
          "Worker processes",
          [
            ["Process", (each) => h("code", {}, each.identity), "wraps"],
            ["State", (each) => badge(each.gone ? "gone" : "polls")],
            ["Serves", (each) => (each.gone ? `nothing now; was at ${each.queues.join(", ")}` : each.queues.join(", ")), "wraps"],
            ["Last poll", (each) => [h("time", { datetime: each.seen }, clock(each.seen)), each.gone ? `, ${since(each.seen)} ago` : ""]],
          ],
          [...processes.values()],
          (each) => each.identity,
        )
      : h("p", { class: "warning" }, "No worker is polling. Start one with ", h("code", {}, "lanista up"), "."),
  );
}

function rayCard({ ray, unknown }) {
  if (!ray) return card("Ray", missing(unknown?.ray, "The train worker reports Ray's resources."));
  const used = (all, free) => Math.max(0, all - free);
  const resource = (name, all, free, show) => [
    name,
    [meter(used(all, free), all, `${name} in use`), h("small", {}, `${show(used(all, free))} of ${show(all)} reserved`)],
  ];
  return card(
    "Ray",
    facts([
      resource("CPUs", ray.cpus, ray.cpus_available, (value) => fixed(value, 0)),
      ray.gpus ? resource("GPUs", ray.gpus, ray.gpus_available, (value) => fixed(value, 0)) : ["GPUs", "none"],
      resource("Memory", ray.memory_bytes, ray.memory_available_bytes, bytes),
      resource("Object store", ray.object_store_bytes, ray.object_store_available_bytes, bytes),
    ]),
    table(
      "Nodes",
      [
        ["Node", (node) => [h("code", {}, node.address), node.host ? ` ${node.host}` : ""]],
        ["State", (node) => [badge(node.alive ? "alive" : "left"), node.problem ? h("small", {}, ` ${node.problem}`) : ""]],
        ["CPUs", (node) => fixed(node.cpus, 0), "number"],
        ["Memory", (node) => bytes(node.memory_bytes), "number"],
        ["Object store", (node) => bytes(node.object_store_bytes), "number"],
      ],
      ray.nodes,
      (node) => node.address,
    ),
    h("small", {}, `Ray ${ray.version}`),
  );
}
