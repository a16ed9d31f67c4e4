// The header of every page of a trial: name, status, actions and sections.
import { hasScope, post, send } from "../core/api.js";
import { ask, toast } from "./dialog.js";
import { h } from "../core/dom.js";
import { gameName, messageAndTrace, short } from "../core/format.js";
import { share } from "./share.js";
import { badge } from "./widgets.js";

const SECTIONS = [
  ["", "Overview"],
  ["/metrics", "Metrics"],
  ["/payoff", "Payoff"],
  ["/matchmaking", "Matchmaking"],
  ["/lineage", "Lineage"],
  ["/promotions", "Promotions"],
  ["/probes", "Probes"],
  ["/matches", "Matches"],
  ["/problems", "Problems"],
];

export function trialFrame(trial, context, ...content) {
  const root = `/trials/${trial.id}`;
  const { message, trace } = messageAndTrace(trial.status_reason);
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
        h("h1", {}, trial.name, " ", badge(trial.status), tagList(trial.tags)),
        h(
          "p",
          { class: "quiet" },
          gameName(trial.game),
          " · ",
          short(trial.steps),
          " steps",
          trial.budget_steps ? ` of ${short(trial.budget_steps)}` : "",
          message ? ` · ${message}` : "",
          trial.former_names?.length ? ` · formerly ${trial.former_names.filter((each) => each !== trial.name).join(", ")}` : "",
        ),
        trial.notes ? h("p", { class: "notes" }, trial.notes) : null,
      ),
      trialActions(trial, context),
    ),
    trace ? h("pre", { class: "trace", key: "trace", tabindex: 0, "aria-label": "Traceback" }, trace) : null,
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

/** Whether a trial is in trouble, as a sign before its name; nothing is known of those that have not been asked. */
export function healthSign(trial, now) {
  const [trouble] = trial.status === "failed" ? [trial.status_reason ?? "failed"] : (now?.troubles ?? []);
  if (trouble) return h("span", { class: "sign bad", role: "img", "aria-label": "In trouble", title: trouble }, "⚠ ");
  if (trial.status !== "running" || !now) return null;
  return h("span", { class: "sign good", role: "img", "aria-label": "No trouble", title: "Nothing is in trouble now" }, "✓ ");
}

/** Tags of a trial; each leads to the trials that have it. */
export const tagList = (tags = []) =>
  tags.map((tag) => h("a", { class: "tag", href: `/trials?tag=${encodeURIComponent(tag)}`, title: `Trials tagged ${tag}` }, tag));

/** The actions that are possible in the status of the trial. */
export function trialActions(trial, context) {
  const report = h("a", { class: "button plain", key: "Report", href: `/api/v1/trials/${trial.id}/report`, download: true }, "Report");
  if (!hasScope("operator")) return h("div", { class: "row" }, report);
  const over = ["stopped", "completed", "failed"].includes(trial.status);
  const order = (name, action, kind = "plain") => h("button", { class: kind, key: name, onclick: () => action(trial, context) }, name);
  return h(
    "div",
    { class: "row", role: "group", "aria-label": `Actions for ${trial.name}` },
    trial.status === "running" && order("Pause", pause),
    ["paused", "pausing"].includes(trial.status) && order("Resume", resume),
    ["running", "pausing", "paused", "stopping"].includes(trial.status) && order("Stop", stop),
    h("a", { class: "button plain", key: "Fork", href: `/trials/${trial.id}/fork` }, "Fork"),
    trial.spec && order("Edit", edit),
    report,
    order("Share", (shown) => share({ trial_id: shown.id }, shown.name, context)),
    over && !trial.archived_at && order("Archive", archive),
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
    text: "Every player finishes its generation, then waits. No work is lost.",
  });
  await done(said, context, `${trial.name} is pausing.`);
}

async function resume(trial, context) {
  const said = await ask({
    title: `Resume ${trial.name}?`,
    action: "Resume",
    perform: () => post(`/trials/${trial.id}/resume`),
    text: "Training continues from where it was paused.",
  });
  await done(said, context, `${trial.name} is resuming.`);
}

async function stop(trial, context) {
  const said = await ask({
    title: `Stop ${trial.name}?`,
    action: "Stop permanently",
    danger: true,
    text: "A stopped trial cannot be resumed. It can be forked.",
    fields: [
      {
        name: "mode",
        label: "Mode",
        value: "drain",
        options: [
          ["drain", "drain: finish and record running generations"],
          ["now", "now: discard running generations"],
        ],
      },
      { name: "reason", label: "Reason (recorded)", value: "stopped by an operator", required: true, maxlength: 500 },
    ],
    perform: (values) => post(`/trials/${trial.id}/stop`, values),
  });
  await done(said, context, `${trial.name} is stopping.`);
}

/** Name, tags, notes, priority and quota; refused if somebody else changed them since. */
async function edit(trial, context) {
  const said = await ask({
    title: `Edit ${trial.name}`,
    action: "Save",
    text: "A former name still leads to the trial, and no other trial of the project can get it.",
    fields: [
      {
        name: "name",
        label: "Name",
        value: trial.name,
        required: true,
        pattern: "[a-z0-9][a-z0-9\\-]{0,62}",
        hint: "lower-case letters, digits and hyphens",
      },
      { name: "tags", label: "Tags", value: trial.tags.join(", "), hint: "up to 20, separated by commas" },
      { name: "notes", label: "Notes", value: trial.notes, rows: 6, maxlength: 20_000 },
      { name: "priority", label: "Priority", value: trial.priority, type: "number", min: 0.001, max: 1000, step: "any", required: true },
      {
        name: "quota",
        label: "Quota",
        value: trial.quota ?? 0,
        type: "number",
        min: 0,
        max: 100_000,
        required: true,
        hint: "most generations at once; 0: no limit",
      },
    ],
    perform: ({ name, tags, notes, priority, quota }) => {
      const wanted = {
        name,
        tags: tags
          .toLowerCase()
          .split(/[\s,]+/)
          .filter(Boolean),
        notes: notes.replaceAll("\r\n", "\n"),
        priority: Number(priority),
        quota: Number(quota),
      };
      return send("PATCH", `/trials/${trial.id}`, wanted, { "If-Match": `"${trial.revision}"` });
    },
  });
  await done(said, context, `${said?.name} was saved.`);
}

async function archive(trial, context) {
  const said = await ask({
    title: `Archive ${trial.name}?`,
    action: "Archive",
    perform: () => post(`/trials/${trial.id}/archive`),
    text: "It no longer appears in the list. Its data is kept.",
  });
  await done(said, context, `${trial.name} was archived.`);
}
