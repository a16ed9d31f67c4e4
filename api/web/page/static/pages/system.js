// The installation: health, queues, workers, Ray, gateways, links, tokens and the audit log.
import { get, getAll, hasScope } from "../core/api.js";
import { h } from "../core/dom.js";
import { clusterCards } from "../components/cluster_cards.js";
import { healthCards, refreshWhileVisible } from "../components/health_cards.js";
import { card, table, time } from "../components/widgets.js";
import { tokenCard } from "../components/token_card.js";

const TITLES = { tensorboard: "TensorBoard", temporal: "Temporal" };
export const title = () => "System";
export const enter = refreshWhileVisible;
export const leave = (context) => clearInterval(context.timer);
export const onEvent = () => false;

export async function load() {
  const [system, audit, tokens] = await Promise.all([
    get("/system"),
    hasScope("admin") ? get("/audit", { limit: 50 }) : null,
    hasScope("admin") ? getAll("/tokens") : null,
  ]);
  return { system, audit, tokens };
}

export function view({ system, audit, tokens }, context) {
  return [
    h("h1", { key: "h" }, "System"),
    h("section", { key: "parts", "aria-label": "Parts" }, healthCards(system.readiness)),
    clusterCards(system),
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
