// The installation: its parts, pages of others, tokens, and who changed what.
import { get, getAll, may, post, send } from "../api.js";
import { ask, toast } from "../dialog.js";
import { h } from "../dom.js";
import { partCards, watchParts } from "../parts.js";
import { badge, card, table, time } from "../pieces.js";

const TITLES = { tensorboard: "TensorBoard", temporal: "Temporal" };
export const title = () => "System";
export const enter = watchParts;
export const leave = (context) => clearInterval(context.timer);
export const hear = () => false;

export async function load() {
  const [system, audit, tokens] = await Promise.all([
    get("/system"), may("admin") ? get("/audit", { limit: 50 }) : null, may("admin") ? getAll("/tokens") : null]);
  return { system, audit, tokens };
}

export function view({ system, audit, tokens }, context) {
  return [
    h("h1", { key: "h" }, "System"),
    h("section", { key: "parts", "aria-label": "Parts" }, partCards(system.readiness)),
    h("section", { key: "links", class: "card" }, h("h2", {}, "Elsewhere"), h("ul", { class: "links" },
      Object.entries(system.links).map(([name, url]) => h("li", {}, h("a", { href: url, "data-outside": true }, TITLES[name] ?? name))),
      h("li", {}, h("a", { href: "/openapi.json", "data-outside": true }, "OpenAPI description")),
      h("li", {}, h("a", { href: "/metrics", "data-outside": true }, "Metrics for Prometheus")))),
    tokens && h("section", { key: "tokens", class: "card" }, h("div", { class: "title" }, h("h2", {}, "Tokens"),
      h("button", { class: "plain", onclick: () => make(context) }, "Make a token")), tokenTable(tokens, context)),
    audit && card("Who changed what", table("Audit log", [
      ["When", (entry) => time(entry.at)], ["Who", (entry) => entry.actor], ["What", (entry) => entry.action],
      ["On", (entry) => h("code", {}, entry.target ?? "–")], ["Detail", (entry) => h("small", {}, detail(entry.detail)), "long"],
      ["From", (entry) => entry.remote_address ?? "–"]], audit.items, (entry) => entry.id)),
  ];
}

const detail = (values) => Object.entries(values).map(([name, value]) => `${name}: ${typeof value === "object" ? JSON.stringify(value) : value}`).join(", ") || "–";

function tokenTable(tokens, context) {
  return table("Tokens", [
    ["Name", (token) => token.name], ["Scope", (token) => badge(token.scope)], ["Made", (token) => time(token.created_at)],
    ["Used", (token) => time(token.last_used_at)], ["Ends", (token) => (token.revoked_at ? "revoked" : time(token.expires_at))],
    ["", (token) => !token.revoked_at && h("button", { class: "plain", "aria-label": `Revoke ${token.name}`, onclick: () => revoke(token, context) }, "Revoke")],
  ], tokens, (token) => token.id);
}

async function make(context) {
  const made = await ask({ title: "Make a token", action: "Make", fields: [
    { name: "name", label: "Name", required: true, maxlength: 63, pattern: "[a-z0-9][a-z0-9\\-]{0,62}", hint: "small letters, digits and hyphens" },
    { name: "scope", label: "Scope", value: "viewer", options: [["viewer", "viewer: reads"], ["operator", "operator: changes trials"], ["admin", "admin: makes tokens"]] },
    { name: "days", label: "Days until it ends; empty: never", type: "number", min: 1 }],
  perform: ({ name, scope, days }) => post("/tokens", { name, scope, expires_in_days: days ? Number(days) : null }) });
  if (!made) return;
  await ask({ title: `The token ${made.name}`, text: "It is shown this once. Keep it in a safe place.", action: "I have it",
    fields: [{ name: "token", label: "Token", value: made.token, readonly: true }] });
  await context.refresh();
}

async function revoke(token, context) {
  const said = await ask({ title: `Revoke ${token.name}?`, text: "Whoever uses it is signed out at once.", action: "Revoke", danger: true,
    perform: () => send("DELETE", `/tokens/${token.id}`) });
  if (said) {
    toast(`${token.name} was revoked.`);
    await context.refresh();
  }
}
