// What every page of a trial has: its name and status, its orders, its sections.
import { may, post } from "../core/api.js";
import { ask, toast } from "./dialog.js";
import { h } from "../core/dom.js";
import { short } from "../core/format.js";
import { badge } from "./widgets.js";

const SECTIONS = [
  ["", "Now"],
  ["/payoff", "Payoff"],
  ["/matchmaking", "Matchmaking"],
  ["/lineage", "Lineage"],
  ["/promotions", "Promotions"],
  ["/matches", "Matches"],
];

export function trialFrame(trial, context, ...content) {
  const root = `/trials/${trial.id}`;
  return [
    h(
      "div",
      { class: "title", key: "title" },
      h(
        "div",
        {},
        h(
          "p",
          { class: "crumbs" },
          h("a", { href: "/trials" }, "Trials"),
          " / ",
          h("a", { href: `/trials?project=${encodeURIComponent(trial.project)}` }, trial.project),
        ),
        h("h1", {}, trial.name, " ", badge(trial.status)),
        h(
          "p",
          { class: "quiet" },
          trial.game,
          " · ",
          short(trial.steps),
          " steps",
          trial.budget_steps ? ` of ${short(trial.budget_steps)}` : "",
          trial.status_reason ? ` · ${trial.status_reason}` : "",
        ),
      ),
      orders(trial, context),
    ),
    h(
      "nav",
      { class: "sections", "aria-label": "Sections of the trial", key: "sections" },
      SECTIONS.map(([path, name]) =>
        h(
          "a",
          {
            href: root + path,
            "aria-current": location.pathname === root + path ? "page" : null,
          },
          name,
        ),
      ),
    ),
    ...content.flat(),
  ];
}

/** The orders that make sense for a trial as it stands. */
export function orders(trial, context) {
  if (!may("operator")) return h("div", { class: "row" });
  const over = ["stopped", "completed", "failed"].includes(trial.status);
  const order = (name, action, kind = "plain") => h("button", { class: kind, key: name, onclick: () => action(trial, context) }, name);
  return h(
    "div",
    { class: "row", role: "group", "aria-label": `Orders for ${trial.name}` },
    trial.status === "running" && order("Pause", pause),
    ["paused", "pausing"].includes(trial.status) && order("Resume", resume),
    ["running", "pausing", "paused", "stopping"].includes(trial.status) && order("Stop", stop),
    order("Fork", fork),
    over && !trial.archived_at && order("Put away", archive),
  );
}

async function done(said, context, text) {
  if (!said) return;
  toast(text);
  await context.refresh();
}

async function pause(trial, context) {
  const said = await ask({
    title: `Pause ${trial.name}?`,
    action: "Pause",
    perform: () => post(`/trials/${trial.id}/pause`),
    text: "Every player finishes its generation and then waits. Nothing is lost.",
  });
  await done(said, context, `${trial.name} pauses.`);
}

async function resume(trial, context) {
  const said = await ask({
    title: `Resume ${trial.name}?`,
    action: "Resume",
    perform: () => post(`/trials/${trial.id}/resume`),
    text: "It goes on where it stood.",
  });
  await done(said, context, `${trial.name} goes on.`);
}

async function stop(trial, context) {
  const said = await ask({
    title: `Stop ${trial.name}?`,
    action: "Stop for good",
    danger: true,
    text: "A stopped trial does not start again; it can be forked.",
    fields: [
      {
        name: "mode",
        label: "How",
        value: "drain",
        options: [
          ["drain", "finish and record what is under way"],
          ["now", "now, giving up what is under way"],
        ],
      },
      { name: "reason", label: "Reason, for the records", value: "stopped by an operator", required: true, maxlength: 500 },
    ],
    perform: (values) => post(`/trials/${trial.id}/stop`, values),
  });
  await done(said, context, `${trial.name} stops.`);
}

async function fork(trial, context) {
  const made = await ask({
    title: `Fork ${trial.name}`,
    action: "Fork",
    text: "A new trial of the same project that begins where this one stood; weights come by reference.",
    fields: [
      {
        name: "name",
        label: "Name of the new trial",
        value: `${trial.name}-fork`.slice(0, 63),
        required: true,
        pattern: "[a-z0-9][a-z0-9\\-]{0,62}",
        hint: "small letters, digits and hyphens",
      },
      {
        name: "at_commit",
        label: "At commit",
        type: "number",
        min: 0,
        max: trial.last_commit,
        value: trial.last_commit,
        hint: `0 to ${trial.last_commit}, the newest`,
      },
    ],
    perform: ({ name, at_commit: at }) => post(`/trials/${trial.id}/fork`, { name, at_commit: at === "" ? null : Number(at) }),
  });
  if (made) {
    toast(`${made.name} was made.`);
    await context.go(`/trials/${made.id}`);
  }
}

async function archive(trial, context) {
  const said = await ask({
    title: `Put ${trial.name} away?`,
    action: "Put away",
    perform: () => post(`/trials/${trial.id}/archive`),
    text: "It leaves the list; its data stay.",
  });
  await done(said, context, `${trial.name} was put away.`);
}
