// The installation: health, queues, workers, Ray, gateways, links, tokens and the audit log.
import { get, getAll, hasScope } from "../core/api.js";
import { h } from "../core/dom.js";
import { clusterCards } from "../components/cluster_cards.js";
import { healthCards, refreshWhileVisible } from "../components/health_cards.js";
import { logCard, readLog } from "../components/log_card.js";
import { historyCard } from "../components/system_history.js";
import { openLinks, shareCard } from "../components/share.js";
import { waitingCard } from "../components/waiting_card.js";
import { card, table, time } from "../components/widgets.js";
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
    get("/system"),
    nowAndThen(context, "history", () => get("/system/history")),
    nowAndThen(context, "waiting", whatWaits),
    nowAndThen(context, "sharing", () => get("/system/queue")),
    admin ? get("/audit", { limit: 50 }) : null,
    admin ? getAll("/tokens") : null,
    admin ? nowAndThen(context, "logs", () => get("/system/logs")) : null,
    admin ? readLog(context).catch(() => null) : null,
    hasScope("operator") ? nowAndThen(context, "shares", openLinks) : null,
  ]);
  return { system, history, waiting, sharing, audit, tokens, logs: logs?.items, log, shares };
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
    h("section", { key: "parts", "aria-label": "Parts" }, healthCards(system.readiness)),
    waitingCard(system.queues, waiting, sharing),
    clusterCards(system),
    h("div", { key: "history" }, historyCard(history)),
    logCard(logs, log, context),
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
    shareCard(shares, context),
    tokens && tokenCard(tokens, context),
    audit &&
      h(
        "div",
        { key: "audit" },
        card(
          "Audit log",
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
            audit.items,
            (entry) => entry.id,
          ),
        ),
      ),
  ].flat();
}

const detail = (values) =>
  Object.entries(values)
    .map(([name, value]) => `${name}: ${typeof value === "object" ? JSON.stringify(value) : value}`)
    .join(", ") || "–";
