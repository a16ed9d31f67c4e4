// Dialogs that add an alert channel or a rule.
import { getAll, post } from "../core/api.js";
import { ask, toast } from "./dialog.js";

/** What a rule can be about, in words. */
export const KINDS = {
  trial_failed: "trial failed",
  stalled: "stalled",
  setback: "setback",
  new_champion: "new champion",
  target_reached: "target reached",
  schedule_result: "schedule result",
};
const NAME = { maxlength: 63, pattern: "[a-z0-9][a-z0-9\\-]{0,62}", hint: "lower-case letters, digits and hyphens" };

export async function askForChannel(context) {
  const made = await ask({
    title: "Add a channel",
    action: "Add",
    fields: [
      { name: "name", label: "Name", required: true, ...NAME },
      {
        name: "kind",
        label: "Kind",
        value: "webhook",
        options: [
          ["webhook", "webhook: signed JSON"],
          ["slack", "Slack, and what takes its JSON"],
          ["email", "e-mail"],
        ],
      },
      { name: "to", label: "Address", required: true, hint: "https://… to post to, or e-mail addresses with commas between them" },
    ],
    perform: ({ name, kind, to }) => post("/alerts/channels", { name, kind, ...destination(kind, to) }),
  });
  if (!made) return;
  if (made.secret) await showSecret(made);
  else toast(`${made.name} was added.`);
  await context.refresh();
}

const destination = (kind, to) =>
  kind === "email"
    ? {
        to: to
          .split(",")
          .map((each) => each.trim())
          .filter(Boolean),
      }
    : { url: to.trim() };

const showSecret = (channel) =>
  ask({
    title: `The secret of ${channel.name}`,
    text: "The receiver checks signatures with it. It is shown only once: store it in a safe place.",
    action: "Done",
    fields: [{ name: "secret", label: "Secret", value: channel.secret, readonly: true }],
  });

export async function askForRule(channels, context) {
  const trials = await getAll("/trials");
  const projects = [...new Set(trials.map((each) => each.project))].sort();
  const made = await ask({
    title: "Add a rule",
    text: "It concerns what happens from now on.",
    action: "Add",
    fields: [
      { name: "channel_id", label: "Send to", value: channels[0].id, options: channels.map((each) => [each.id, each.name]) },
      {
        name: "of",
        label: "What concerns",
        value: "",
        options: [
          ["", "everything"],
          ...projects.map((each) => [`project:${each}`, `project ${each}`]),
          ...trials.map((each) => [`trial:${each.id}`, `trial ${each.project}/${each.name}`]),
        ],
      },
      ...Object.entries(KINDS).map(([name, words]) => ({ name, label: words, type: "checkbox", checked: name === "trial_failed" })),
    ],
    perform: (values) => post("/alerts/rules", ruleOf(values)),
  });
  if (made) toast("The rule was added.");
  await context.refresh();
}

function ruleOf({ channel_id, of, ...chosen }) {
  const [what, which] = [of.slice(0, of.indexOf(":")), of.slice(of.indexOf(":") + 1)];
  return {
    channel_id,
    kinds: Object.keys(KINDS).filter((kind) => kind in chosen),
    project: what === "project" ? which : null,
    trial_id: what === "trial" ? which : null,
  };
}
