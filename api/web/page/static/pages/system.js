// The installation: its parts, pages of others, tokens, and who changed what.
import { get, getAll, may } from "../core/api.js";
import { h } from "../core/dom.js";
import { fleetCards } from "../components/cluster_cards.js";
import { partCards, watchParts } from "../components/health_cards.js";
import { card, table, time } from "../components/widgets.js";
import { tokenCard } from "../components/token_card.js";

const TITLES = { tensorboard: "TensorBoard", temporal: "Temporal" };
export const title = () => "System";
export const enter = watchParts;
export const leave = (context) => clearInterval(context.timer);
export const hear = () => false;

export async function load() {
  const [system, audit, tokens] = await Promise.all([
    get("/system"),
    may("admin") ? get("/audit", { limit: 50 }) : null,
    may("admin") ? getAll("/tokens") : null,
  ]);
  return { system, audit, tokens };
}

export function view({ system, audit, tokens }, context) {
  return [
    h("h1", { key: "h" }, "System"),
    h("section", { key: "parts", "aria-label": "Parts" }, partCards(system.readiness)),
    fleetCards(system),
    h(
      "section",
      { key: "links", class: "card" },
      h("h2", {}, "Elsewhere"),
      h(
        "ul",
        { class: "links" },
        Object.entries(system.links).map(([name, url]) => h("li", {}, h("a", { href: url, "data-outside": true }, TITLES[name] ?? name))),
        h("li", {}, h("a", { href: "/openapi.json", "data-outside": true }, "OpenAPI description")),
        h("li", {}, h("a", { href: "/metrics", "data-outside": true }, "Metrics for Prometheus")),
      ),
    ),
    tokens && tokenCard(tokens, context),
    audit &&
      h(
        "div",
        { key: "audit" },
        card(
          "Who changed what",
          table(
            "Audit log",
            [
              ["When", (entry) => time(entry.at)],
              ["Who", (entry) => entry.actor],
              ["What", (entry) => entry.action],
              ["On", (entry) => h("code", {}, entry.target ?? "–")],
              ["Detail", (entry) => h("small", {}, detail(entry.detail)), "long"],
              ["From", (entry) => entry.remote_address ?? "–"],
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
