// Tournament schedules: create, pause, run now, delete.
import { get, getAll, hasScope, post, send } from "../core/api.js";
import { ask, toast } from "../components/dialog.js";
import { h } from "../core/dom.js";
import { counted, duration, humanize } from "../core/format.js";
import { part, problemOf } from "../core/parts.js";
import { badge, empty, facts, problemWith, time } from "../components/widgets.js";
import { tournamentFields, tournamentOf } from "../components/tournament_form.js";

export const title = () => "Schedules";
export const onEvent = (event) => /^(schedule|tournament)\./.test(event.type);

export async function load() {
  const [schedules, trials] = await Promise.all([getAll("/schedules"), part(getAll("/trials"))]);
  const found = await Promise.all(schedules.map((each) => get(`/schedules/${each.id}`).catch(ignoreDeleted)));
  return { schedules: found.filter(Boolean), trials };
}

/** A schedule may be deleted after the list was read. */
function ignoreDeleted(problem) {
  if (problem.status !== 404) throw problem;
  return null;
}

export function view({ schedules, trials }, context) {
  return [
    h(
      "div",
      { class: "title", key: "title" },
      h("h1", {}, "Schedules"),
      hasScope("operator") && trials.length
        ? h(
            "button",
            {
              onclick: () => {
                context.state.making = !context.state.making;
                context.redraw();
              },
            },
            context.state.making ? "Cancel" : "Create a schedule",
          )
        : null,
    ),
    problemOf(trials) && h("div", { key: "trials" }, problemWith("The trials, for new schedules,", trials)),
    context.state.making ? form(trials, context) : null,
    schedules.length
      ? h(
          "ul",
          { class: "trials", key: "list" },
          schedules.map((each) => shown(each, trials, context)),
        )
      : empty(
          "No schedules",
          "A schedule starts a tournament repeatedly, for example every night. A trial file defines one with ",
          h("code", {}, "evaluation.schedule"),
          ".",
        ),
  ];
}

function shown(schedule, trials, context) {
  const trial = trials.find((each) => each.project === schedule.project && each.name === schedule.tournament.trial);
  const order = (name, action, kind = "plain") =>
    h("button", { class: kind, "aria-label": `${name} ${schedule.name}`, onclick: () => action(schedule, context) }, name);
  return h(
    "li",
    { class: "card tall", key: schedule.id },
    h(
      "div",
      { class: "title" },
      h("h2", {}, schedule.name, " ", badge(schedule.paused ? "paused" : "active")),
      hasScope("operator") &&
        h(
          "div",
          { class: "row" },
          order(schedule.paused ? "Resume" : "Pause", toggle),
          order("Trigger now", trigger),
          order("Delete", remove),
        ),
    ),
    facts([
      ["When", schedule.cron ? [h("code", {}, schedule.cron), ` (${schedule.time_zone})`] : `every ${duration(schedule.every_seconds)}`],
      ["Next", schedule.paused ? "paused" : schedule.next?.length ? time(schedule.next[0]) : "–"],
      ["Project", h("a", { href: `/trials?project=${encodeURIComponent(schedule.project)}` }, schedule.project)],
      ["Trial", trial ? h("a", { href: `/trials/${trial.id}` }, trial.name) : schedule.tournament.trial],
      ["Tournament", tournamentText(schedule.tournament)],
      ["If one is still running", humanize(schedule.overlap)],
      [
        "Runs",
        schedule.fired === null
          ? null
          : [`${counted(schedule.fired, "time")}, `, h("a", { href: `/tournaments?schedule=${schedule.id}` }, "its tournaments")],
      ],
      ["Last error", schedule.last_error],
    ]),
  );
}

function form(trials, context) {
  return h(
    "form",
    { class: "card form", key: "form", onsubmit: (event) => make(event, trials, context) },
    h(
      "div",
      { class: "field" },
      h("label", { for: "when" }, "When (cron)"),
      h("input", { id: "when", name: "cron", value: "0 3 * * *", required: true }),
      h("small", {}, "minute hour day month weekday: 0 3 * * * is every night at three"),
    ),
    h(
      "div",
      { class: "field" },
      h("label", { for: "zone-name" }, "Time zone"),
      h("input", { id: "zone-name", name: "time_zone", value: Intl.DateTimeFormat().resolvedOptions().timeZone, required: true }),
    ),
    tournamentFields(trials, context.query),
    h("p", { class: "error", role: "alert" }, context.state.error ?? ""),
    h("button", { type: "submit" }, "Create schedule"),
  );
}

async function make(event, trials, context) {
  event.preventDefault();
  const values = Object.fromEntries(new FormData(event.target));
  const { project, spec } = tournamentOf(values, trials);
  try {
    await post("/schedules", { project, name: values.name, cron: values.cron, time_zone: values.time_zone, tournament: spec });
    context.state.making = false;
    context.state.error = "";
    toast(`${values.name} was created.`);
    await context.refresh();
  } catch (problem) {
    context.state.error = problem.message;
    context.redraw();
  }
}

async function toggle(schedule, context) {
  const word = schedule.paused ? "Resume" : "Pause";
  const said = await ask({
    title: `${word} ${schedule.name}?`,
    action: word,
    perform: () => send("PATCH", `/schedules/${schedule.id}`, { paused: !schedule.paused }),
  });
  if (said) await context.refresh();
}

async function trigger(schedule, context) {
  const said = await ask({
    title: `Trigger ${schedule.name} now?`,
    action: "Trigger",
    text: "Starts its tournament now, in addition to the schedule.",
    perform: () => post(`/schedules/${schedule.id}/trigger`),
  });
  if (said) toast("The tournament is starting.");
  await context.refresh();
}

async function remove(schedule, context) {
  const said = await ask({
    title: `Delete ${schedule.name}?`,
    action: "Delete",
    danger: true,
    text: "Its tournaments are kept.",
    perform: () => send("DELETE", `/schedules/${schedule.id}`),
  });
  if (said) toast(`${schedule.name} was deleted.`);
  await context.refresh();
}

/** Of a file without them the defaults. */
function tournamentText({ format = "round_robin", entrants = [] }) {
  return `${humanize(format)} of ${entrants.length ? entrants.join(", ") : "the usual entrants"}`;
}
