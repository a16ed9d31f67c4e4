// Alerts: channels with what keeps them from working, rules, and messages with what came of them.
import { get, getAll, hasScope, post, send } from "../core/api.js";
import { h } from "../core/dom.js";
import { humanize } from "../core/format.js";
import { part, problemOf } from "../core/parts.js";
import { ask, toast } from "../components/dialog.js";
import { askForChannel, askForRule, KINDS } from "../components/alert_forms.js";
import { refreshWhileVisible } from "../components/health_cards.js";
import { badge, card, empty, orProblem, pick, table, time } from "../components/widgets.js";

const SHOWN = 50;

export const title = () => "Alerts";
export const onEvent = () => false; // messages have no events: the page asks

export const enter = (context) => refreshWhileVisible(context);
export const leave = (context) => clearInterval(context.timer);

export async function load(context) {
  if (!hasScope("operator")) return { channels: [], rules: [], deliveries: [] };
  const [channels, rules, deliveries] = await Promise.all([
    part(getAll("/alerts/channels")),
    part(getAll("/alerts/rules")),
    part(get("/alerts/deliveries", { limit: SHOWN, status: context.query.status }).then(({ items }) => items)),
  ]);
  return { channels, rules, deliveries };
}

export function view({ channels, rules, deliveries }, context) {
  if (!hasScope("operator")) return [h("h1", {}, "Alerts"), empty("Not for viewers", "Alerts need a token of scope operator.")];
  const some = channels.length > 0 || problemOf(channels);
  return [
    h(
      "div",
      { class: "title", key: "title" },
      h("h1", {}, "Alerts"),
      h(
        "div",
        { class: "row" },
        hasScope("admin") && h("button", { onclick: () => askForChannel(context) }, "Add a channel"),
        channels.length ? h("button", { class: "plain", onclick: () => askForRule(channels, context) }, "Add a rule") : null,
      ),
    ),
    problemOf(channels)
      ? h("div", { key: "channels" }, card("Channels", orProblem(channels)))
      : channels.length
        ? channelCard(channels, context)
        : noChannels(),
    some
      ? h(
          "div",
          { key: "rules" },
          card(
            "Rules",
            orProblem(rules, () => (rules.length ? ruleTable(rules, context) : noRules())),
          ),
        )
      : null,
    some
      ? h(
          "div",
          { key: "sent" },
          card(
            "Messages",
            statusPicker(context),
            orProblem(deliveries, () => messages(deliveries, context)),
          ),
        )
      : null,
  ];
}

const noChannels = () =>
  empty(
    "No channels",
    "A channel sends messages by webhook, to Slack or by e-mail: when a trial fails, stalls or has a setback, ",
    "when there is a new champion, when a target is reached, and how a scheduled tournament ended. ",
    hasScope("admin") ? "Add one to begin." : "An admin adds one.",
  );

const noRules = () => h("p", { class: "quiet" }, "Nothing is sent yet: add a rule that says what a channel gets.");

function channelCard(channels, context) {
  return h(
    "div",
    { key: "channels" },
    card(
      "Channels",
      table(
        "Channels",
        [
          ["Name", (each) => each.name],
          ["State", state, "long"],
          ["Kind", (each) => humanize(each.kind)],
          ["To", (each) => h("span", { class: "long" }, each.target)],
          ["Waiting", (each) => String(each.pending)],
          ["Last delivered", (each) => time(each.last_success_at)],
          ["", (each) => buttons(each, context)],
        ],
        channels,
        (each) => each.id,
      ),
    ),
  );
}

function state(channel) {
  if (!channel.enabled) return badge("paused");
  if (!channel.failures) return badge(channel.last_success_at ? "active" : "unused");
  const times = channel.failures === 1 ? "once" : `${channel.failures} times`;
  return [badge("failed"), ` ${times}: ${channel.last_error}; next attempt `, time(channel.blocked_until)];
}

function buttons(channel, context) {
  const button = (name, action) =>
    h("button", { class: "plain", "aria-label": `${name} ${channel.name}`, onclick: () => action(channel, context) }, name);
  return h(
    "div",
    { class: "row" },
    channel.enabled && button("Test", test),
    hasScope("admin") && button(channel.enabled ? "Switch off" : "Switch on", toggle),
    hasScope("admin") && button("Delete", remove),
  );
}

function ruleTable(rules, context) {
  return table(
    "Rules",
    [
      ["Channel", (each) => each.channel],
      ["When", (each) => each.kinds.map((kind) => KINDS[kind] ?? humanize(kind)).join(", "), "long"],
      ["Of", of],
      ["Since", (each) => time(each.created_at)],
      [
        "",
        (each) =>
          h(
            "button",
            { class: "plain", "aria-label": `Delete the rule of ${each.channel}`, onclick: () => removeRule(each, context) },
            "Delete",
          ),
      ],
    ],
    rules,
    (each) => each.id,
  );
}

function of(rule) {
  if (rule.trial_id) return h("a", { href: `/trials/${rule.trial_id}` }, rule.trial);
  return rule.project ? ["project ", h("a", { href: `/trials?project=${encodeURIComponent(rule.project)}` }, rule.project)] : "everything";
}

const statusPicker = (context) =>
  pick(
    "Show",
    "status",
    [
      ["", "all"],
      ["pending", "waiting"],
      ["delivered", "delivered"],
      ["failed", "given up"],
    ],
    context.query.status ?? "",
    (value) => context.setQuery({ status: value }),
  );

function messages(deliveries, context) {
  if (!deliveries.length) return h("p", { class: "quiet" }, "No messages.");
  return table(
    "Messages",
    [
      ["When", (each) => time(each.created_at)],
      ["Channel", (each) => each.channel],
      ["About", (each) => KINDS[each.kind] ?? humanize(each.kind)],
      ["Trial", (each) => (each.trial_id ? h("a", { href: `/trials/${each.trial_id}` }, each.trial) : "–")],
      ["Message", (each) => each.text, "long"],
      ["Status", (each) => outcome(each, context), "long"],
    ],
    deliveries,
    (each) => each.id,
  );
}

function outcome(each, context) {
  const tries = each.attempts > 1 ? ` after ${each.attempts} attempts` : "";
  if (each.status === "delivered") return [badge("delivered"), tries];
  const again =
    each.status === "failed" &&
    h("button", { class: "plain", "aria-label": "Send the message again", onclick: () => retry(each, context) }, "Send again");
  return [badge(each.status), tries, each.last_error && `: ${each.last_error}`, " ", again];
}

async function act(context, perform, said) {
  try {
    await perform();
    toast(said);
  } catch (problem) {
    toast(problem.message, "bad");
  }
  await context.refresh();
}

const test = (channel, context) =>
  act(context, () => post(`/alerts/channels/${channel.id}/test`), "A test message is on its way: see Messages.");

const toggle = (channel, context) =>
  act(
    context,
    () => send("PATCH", `/alerts/channels/${channel.id}`, { enabled: !channel.enabled }),
    `${channel.name} is ${channel.enabled ? "off" : "on"}.`,
  );

const retry = (delivery, context) => act(context, () => post(`/alerts/deliveries/${delivery.id}/retry`), "It is tried again.");

async function remove(channel, context) {
  const said = await ask({
    title: `Delete ${channel.name}?`,
    action: "Delete",
    danger: true,
    text: "Its rules and messages are deleted too, also those that were not delivered.",
    perform: () => send("DELETE", `/alerts/channels/${channel.id}`),
  });
  if (said) toast(`${channel.name} was deleted.`);
  await context.refresh();
}

async function removeRule(rule, context) {
  const said = await ask({
    title: `Delete the rule of ${rule.channel}?`,
    action: "Delete",
    danger: true,
    perform: () => send("DELETE", `/alerts/rules/${rule.id}`),
  });
  if (said) toast("The rule was deleted.");
  await context.refresh();
}
