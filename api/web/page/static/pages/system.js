// The installation: health, queues, workers, Ray, gateways, links, tokens and the audit log.
import { get, getAll, hasScope } from "../core/api.js";
import { h } from "../core/dom.js";
import { part, problemOf } from "../core/parts.js";
import { clusterCards } from "../components/cluster_cards.js";
import { healthCards, refreshWhileVisible } from "../components/health_cards.js";
import { logCard, readLog } from "../components/log_card.js";
import { historyCard } from "../components/system_history.js";
import { openLinks, shareCard } from "../components/share.js";
import { waitingCard } from "../components/waiting_card.js";
import { card, orProblem, table, time } from "../components/widgets.js";
import { tokenCard } from "../components/token_card.js";

const SLOW_MS = 15_000;
const MOST_TRIALS = 10; // running trials whose waits are shown
const TITLES = { tensorboard: "TensorBoard", temporal: "Temporal" };
export const title = () => "System";
export const enter = refreshWhileVisible;
export const leave = (context) => clearInterval(context.timer);
export const onEvent = () => false;

export async function load(context) {
  const admin = hasScope("admin");
  const [system, history, waiting, sharing, audit, tokens, logs, log, shares] = await Promise.all([
    part(get("/system"), { links: {} }),
    part(
      nowAndThen(context, "history", () => get("/system/history")),
      {},
    ),
    part(nowAndThen(context, "waiting", whatWaits)),
    part(
      nowAndThen(context, "sharing", () => get("/system/queue")),
      { trials: [] },
    ),
    admin ? part(get("/audit", { limit: 50 }), { items: [] }) : null,
    admin ? part(getAll("/tokens")) : null,
    admin ? part(nowAndThen(context, "logs", () => get("/system/logs").then(({ items }) => items))) : null,
    admin ? readLog(context).catch(() => null) : null,
    hasScope("operator") ? part(nowAndThen(context, "shares", openLinks)) : null,
  ]);
  return { system, history, waiting, sharing, audit, tokens, logs, log, shares };
}

/** A value that is read again only after a while: the page itself is refreshed every few seconds. */
async function nowAndThen({ state }, name, read) {
  const known = state[name];
  if (known && Date.now() - known.at < SLOW_MS) return known.value;
  const value = await read();
  state[name] = { at: Date.now(), value };
  return value;
}

async function whatWaits() {
  const running = await get("/trials", { status: "running", limit: MOST_TRIALS });
  return Promise.all(running.items.map(async (trial) => ({ trial, now: await get(`/trials/${trial.id}/progress`) })));
}

export function view({ system, history, waiting, sharing, audit, tokens, logs, log, shares }, context) {
  return [
    h("h1", { key: "h" }, "System"),
    h(
      "section",
      { key: "parts", "aria-label": "Parts" },
      orProblem(system, () => healthCards(system.readiness)),
    ),
    waitingCard(system.queues, waiting, sharing),
    problemOf(system) ? null : clusterCards(system),
    h("div", { key: "history" }, problemOf(history) ? card("The last hour", orProblem(history)) : historyCard(history)),
    problemOf(logs) ? h("div", { key: "logs" }, card("Logs", orProblem(logs))) : logCard(logs, log, context),
    h(
      "section",
      { key: "links", class: "card" },
      h("h2", {}, "Links"),
      h(
        "ul",
        { class: "links" },
        Object.entries(system.links).map(([name, url]) => h("li", {}, h("a", { href: url, "data-outside": true }, TITLES[name] ?? name))),
        h("li", {}, h("a", { href: "/openapi.json", "data-outside": true }, "OpenAPI description")),
        h("li", {}, h("a", { href: "/metrics", "data-outside": true }, "Prometheus metrics")),
      ),
    ),
    problemOf(shares) ? h("div", { key: "shares" }, card("Shared links", orProblem(shares))) : shareCard(shares, context),
    problemOf(tokens) ? h("div", { key: "tokens" }, card("Tokens", orProblem(tokens))) : tokens && tokenCard(tokens, context),
    audit &&
      h(
        "div",
        { key: "audit" },
        card(
          "Audit log",
          orProblem(audit, () => auditTable(audit.items)),
        ),
      ),
  ].flat();
}

const auditTable = (entries) =>
  table(
    "Audit log",
    [
      ["When", (entry) => time(entry.at)],
      ["Actor", (entry) => entry.actor],
      ["Action", (entry) => entry.action],
      ["Target", (entry) => h("code", {}, entry.target ?? "–")],
      ["Detail", (entry) => h("small", {}, detail(entry.detail)), "long"],
      ["Address", (entry) => entry.remote_address ?? "–"],
    ],
    entries,
    (entry) => entry.id,
  );

const detail = (values) =>
  Object.entries(values)
    .map(([name, value]) => `${name}: ${typeof value === "object" ? JSON.stringify(value) : value}`)
    .join(", ") || "–";
