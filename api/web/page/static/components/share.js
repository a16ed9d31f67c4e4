// Shares a trial or a tournament by a read-only link, and revokes links.
import { getAll, post, send } from "../core/api.js";
import { h } from "../core/dom.js";
import { ask, toast } from "./dialog.js";
import { card, table, time } from "./widgets.js";

/** `what` is {trial_id} or {tournament_id}. */
export async function share(what, name, context) {
  const made = await ask({
    title: `Share ${name}`,
    text: "Whoever has the link sees this, read-only, and nothing else.",
    action: "Create link",
    fields: [
      { name: "days", label: "Ends after days", type: "number", min: 0.01, max: 365, step: "any", value: 7, required: true },
      { name: "note", label: "For whom (recorded)", maxlength: 200 },
    ],
    perform: ({ days, note }) => post("/shares", { ...what, expires_in_days: Number(days), note }),
  });
  if (!made) return;
  await ask({
    title: "The link",
    text: "It is shown only once.",
    action: "Done",
    fields: [{ name: "link", label: "Link", value: made.url ?? location.origin + made.path, readonly: true }],
  });
  await context.refresh();
}

/** Links that still show something. */
export async function openLinks() {
  const found = await getAll("/shares");
  return found.filter((each) => !each.revoked_at && new Date(each.expires_at) > new Date());
}

export function shareCard(links, context) {
  if (!links?.length) return null;
  return h(
    "div",
    { key: "shares" },
    card(
      "Shared links",
      table(
        "Shared links",
        [
          ["Shows", (each) => shown(each)],
          ["For", (each) => each.note || "–", "long"],
          ["By", (each) => each.created_by],
          ["Ends", (each) => time(each.expires_at)],
          ["Opened", (each) => `${each.opened} ×`],
          [
            "",
            (each) =>
              h(
                "button",
                { class: "plain", "aria-label": `Revoke the link for ${each.note || "no name"}`, onclick: () => revoke(each, context) },
                "Revoke",
              ),
          ],
        ],
        links,
        (each) => each.id,
      ),
    ),
  );
}

const shown = (link) =>
  link.trial_id
    ? h("a", { href: `/trials/${link.trial_id}` }, link.name)
    : h("a", { href: `/tournaments/${link.tournament_id}` }, link.name);

async function revoke(link, context) {
  const said = await ask({
    title: "Revoke the link?",
    action: "Revoke",
    danger: true,
    text: "It shows nothing from now on.",
    perform: () => send("DELETE", `/shares/${link.id}`),
  });
  if (said) toast("The link was revoked.");
  context.state.shares = null; // read again
  await context.refresh();
}
