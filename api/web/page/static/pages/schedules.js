// Schedules of tournaments: made, paused, fired, deleted.
import { get, getAll, may, post, send } from "../core/api.js";
import { ask, toast } from "../components/dialog.js";
import { h } from "../core/dom.js";
import { duration, whole, words } from "../core/format.js";
import { badge, empty, facts, time } from "../components/widgets.js";
import { tournamentFields, tournamentOf } from "../components/tournament_form.js";

export const title = () => "Schedules";
export const hear = (event) => /^(schedule|tournament)\./.test(event.type);

export async function load() {
  const [schedules, trials] = await Promise.all([getAll("/schedules"), getAll("/trials")]);
  return { schedules: await Promise.all(schedules.map((each) => get(`/schedules/${each.id}`))), trials };
}

export function view({ schedules, trials }, context) {
  return [
    h(
      "div",
      { class: "title", key: "title" },
      h("h1", {}, "Schedules"),
      may("operator") && trials.length
        ? h(
            "button",
            {
              onclick: () => {
                context.state.making = !context.state.making;
                context.redraw();
              },
            },
            context.state.making ? "Never mind" : "Make a schedule",
          )
        : null,
    ),
    context.state.making ? form(trials, context) : null,
    schedules.length
      ? h(
          "ul",
          { class: "trials", key: "list" },
          schedules.map((each) => shown(each, context)),
        )
      : empty(
          "No schedules",
          "A schedule holds a tournament again and again, every night for example. A trial's file can ask for one with ",
          h("code", {}, "evaluation.schedule"),
          ".",
        ),
  ];
}

function shown(schedule, context) {
  const order = (name, action, kind = "plain") =>
    h("button", { class: kind, "aria-label": `${name} ${schedule.name}`, onclick: () => action(schedule, context) }, name);
  return h(
    "li",
    { class: "card tall", key: schedule.id },
    h(
      "div",
      { class: "title" },
      h("h2", {}, schedule.name, " ", badge(schedule.paused ? "paused" : "active")),
      may("operator") &&
        h("div", { class: "row" }, order(schedule.paused ? "Resume" : "Pause", toggle), order("Fire now", fire), order("Delete", remove)),
    ),
    facts([
      ["When", schedule.cron ? [h("code", {}, schedule.cron), ` (${schedule.time_zone})`] : `every ${duration(schedule.every_seconds)}`],
      ["Next", schedule.paused ? "paused" : schedule.next?.length ? time(schedule.next[0]) : "–"],
      ["Project", schedule.project],
      ["Tournament", `${words(schedule.tournament.format ?? "")} of ${(schedule.tournament.entrants ?? []).join(", ")}`],
      ["Where one still runs", words(schedule.overlap)],
      [
        "Fired",
        schedule.fired === null
          ? null
          : [`${whole(schedule.fired)} times, `, h("a", { href: `/tournaments?schedule=${schedule.id}` }, "its tournaments")],
      ],
      ["Last problem", schedule.last_error],
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
    h("p", { class: "refusal", role: "alert" }, context.state.refusal ?? ""),
    h("button", { type: "submit" }, "Make it"),
  );
}

async function make(event, trials, context) {
  event.preventDefault();
  const values = Object.fromEntries(new FormData(event.target));
  const { project, spec } = tournamentOf(values, trials);
  try {
    await post("/schedules", { project, name: values.name, cron: values.cron, time_zone: values.time_zone, tournament: spec });
    context.state.making = false;
    context.state.refusal = "";
    toast(`${values.name} was made.`);
    await context.refresh();
  } catch (problem) {
    context.state.refusal = problem.message;
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

async function fire(schedule, context) {
  const said = await ask({
    title: `Fire ${schedule.name} now?`,
    action: "Fire",
    text: "Its tournament is held now, besides its usual times.",
    perform: () => post(`/schedules/${schedule.id}/trigger`),
  });
  if (said) toast("Its tournament begins.");
  await context.refresh();
}

async function remove(schedule, context) {
  const said = await ask({
    title: `Delete ${schedule.name}?`,
    action: "Delete",
    danger: true,
    text: "Its tournaments stay.",
    perform: () => send("DELETE", `/schedules/${schedule.id}`),
  });
  if (said) toast(`${schedule.name} was deleted.`);
  await context.refresh();
}
