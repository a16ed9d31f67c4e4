// API tokens: create, show once, revoke.
import { post, send } from "../core/api.js";
import { ask, toast } from "./dialog.js";
import { h } from "../core/dom.js";
import { badge, table, time } from "./widgets.js";

export function tokenCard(tokens, context) {
  return h(
    "section",
    { key: "tokens", class: "card", "aria-label": "Tokens" },
    h("div", { class: "title" }, h("h2", {}, "Tokens"), h("button", { class: "plain", onclick: () => make(context) }, "Create a token")),
    tokenTable(tokens, context),
  );
}

function tokenTable(tokens, context) {
  return table(
    "Tokens",
    [
      ["Name", (token) => token.name],
      ["Scope", (token) => badge(token.scope)],
      ["Created", (token) => time(token.created_at)],
      ["Last used", (token) => time(token.last_used_at)],
      ["Expires", (token) => (token.revoked_at ? "revoked" : time(token.expires_at))],
      [
        "",
        (token) =>
          !token.revoked_at &&
          h("button", { class: "plain", "aria-label": `Revoke ${token.name}`, onclick: () => revoke(token, context) }, "Revoke"),
      ],
    ],
    tokens,
    (token) => token.id,
  );
}

async function make(context) {
  const made = await ask({
    title: "Create a token",
    action: "Create",
    fields: [
      {
        name: "name",
        label: "Name",
        required: true,
        maxlength: 63,
        pattern: "[a-z0-9][a-z0-9\\-]{0,62}",
        hint: "lower-case letters, digits and hyphens",
      },
      {
        name: "scope",
        label: "Scope",
        value: "viewer",
        options: [
          ["viewer", "viewer: reads"],
          ["operator", "operator: changes trials"],
          ["code", "code: also uploads and runs Python code"],
          ["admin", "admin: manages tokens"],
        ],
      },
      { name: "days", label: "Expires after days (empty: never)", type: "number", min: 1 },
    ],
    perform: ({ name, scope, days }) => post("/tokens", { name, scope, expires_in_days: days ? Number(days) : null }),
  });
  if (!made) return;
  await ask({
    title: `The token ${made.name}`,
    text: "The token is shown only once. Store it in a safe place.",
    action: "Done",
    fields: [{ name: "token", label: "Token", value: made.token, readonly: true }],
  });
  await context.refresh();
}

async function revoke(token, context) {
  const said = await ask({
    title: `Revoke ${token.name}?`,
    text: "Clients that use it lose access immediately.",
    action: "Revoke",
    danger: true,
    perform: () => send("DELETE", `/tokens/${token.id}`),
  });
  if (said) {
    toast(`${token.name} was revoked.`);
    await context.refresh();
  }
}
