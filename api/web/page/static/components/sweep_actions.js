// What an operator may do with a sweep in its status: pause, resume, stop.
import { hasScope, post } from "../core/api.js";
import { h } from "../core/dom.js";
import { ask, toast } from "./dialog.js";

const ACTIONS = [
  {
    name: "Pause",
    path: "pause",
    allowed: ["running"],
    text: "Its trials finish their generations, then wait. No work is lost.",
    done: "pausing",
  },
  { name: "Resume", path: "resume", allowed: ["paused"], text: "Its trials continue from where they were paused.", done: "resuming" },
  {
    name: "Stop",
    path: "stop",
    allowed: ["pending", "running", "paused", "stopping"],
    danger: true,
    text: "All its trials are stopped. What they recorded is kept. A stopped sweep cannot be resumed.",
    fields: [{ name: "reason", label: "Reason (recorded)", value: "stopped by an operator", required: true, maxlength: 500 }],
    done: "stopping",
  },
];

export function sweepActions(sweep, context) {
  if (!hasScope("operator")) return null;
  return h(
    "div",
    { class: "row", role: "group", "aria-label": `Actions for ${sweep.name}` },
    ACTIONS.filter((action) => action.allowed.includes(sweep.status)).map((action) =>
      h("button", { class: "plain", key: action.name, onclick: () => carryOut(action, sweep, context) }, action.name),
    ),
  );
}

async function carryOut({ name, path, text, danger, fields, done }, sweep, context) {
  const said = await ask({
    title: `${name} ${sweep.name}?`,
    action: danger ? `${name} permanently` : name,
    danger,
    text,
    fields,
    perform: (values) => post(`/sweeps/${sweep.id}/${path}`, fields && values),
  });
  if (!said) return;
  toast(`${sweep.name} is ${done}.`);
  await context.refresh();
}
