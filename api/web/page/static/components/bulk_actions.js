// Actions on several trials at once: one confirmation, then the result for each.
import { hasScope, post } from "../core/api.js";
import { h, patchChildren } from "../core/dom.js";

const OVER = ["stopped", "completed", "failed"];
const ACTIONS = [
  {
    name: "Pause",
    path: "pause",
    allowed: (trial) => trial.status === "running",
    text: "Every player finishes its generation, then waits. No work is lost.",
    done: "pausing",
  },
  {
    name: "Resume",
    path: "resume",
    allowed: (trial) => ["paused", "pausing"].includes(trial.status),
    text: "Training continues from where it was paused.",
    done: "resuming",
  },
  {
    name: "Stop",
    path: "stop",
    danger: true,
    allowed: (trial) => ["pending", "running", "pausing", "paused", "stopping"].includes(trial.status),
    text: "Stopped trials cannot be resumed. They can be forked. Generations under way are finished and recorded.",
    body: { mode: "drain", reason: "stopped by an operator, with others" },
    done: "stopping",
  },
  {
    name: "Archive",
    path: "archive",
    allowed: (trial) => OVER.includes(trial.status) && !trial.archived_at,
    text: "They no longer appear in the list. Their data is kept.",
    done: "archived",
  },
];

/** The bar above the table: what can be done with the selected trials. */
export function bulkBar(trials, { clear, refresh }) {
  const ids = trials.map((trial) => trial.id).join(",");
  const comparable = trials.length >= 2 && trials.length <= 50;
  return h(
    "div",
    { class: "bulk", key: "bulk", role: "group", "aria-label": "Selected trials" },
    h("strong", { role: "status" }, trials.length === 1 ? "1 trial selected" : `${trials.length} trials selected`),
    comparable
      ? h("a", { class: "button plain", href: `/compare?trials=${ids}` }, "Compare")
      : h("span", { class: "quiet" }, trials.length ? "Select 2 to 50 to compare." : "Select trials to compare them."),
    hasScope("operator") &&
      ACTIONS.map((action) => {
        const fitting = trials.filter(action.allowed);
        return h(
          "button",
          { class: "plain", key: action.name, disabled: !fitting.length, onclick: () => carryOut(action, trials, refresh) },
          action.name,
        );
      }),
    trials.length > 0 && h("button", { class: "plain", key: "none", onclick: clear }, "Select none"),
  );
}

/** Ask once, then send the orders one after the other; each trial's line says what came of it. */
function carryOut(action, trials, refresh) {
  const fitting = trials.filter(action.allowed);
  const left = trials.filter((trial) => !action.allowed(trial));
  const results = new Map();
  const list = h("ul", { class: "results", "aria-live": "polite", "aria-label": "Result for each trial", tabindex: 0 });
  const show = () =>
    patchChildren(
      list,
      [...fitting, ...left].map((trial) =>
        line(trial, results.get(trial.id) ?? (fitting.includes(trial) ? "" : `left as it is: ${trial.status}`)),
      ),
    );
  const cancel = h("button", { type: "button", class: "plain", onclick: () => box.close() }, "Cancel");
  const confirm = h("button", { type: "submit", class: action.danger ? "danger" : "" }, `${action.name} ${fitting.length}`);
  const form = h(
    "form",
    { method: "dialog" },
    h("h2", { id: "bulk-title" }, `${action.name} ${fitting.length === 1 ? "1 trial" : `${fitting.length} trials`}?`),
    h("p", {}, action.text),
    list,
    h("div", { class: "row end" }, cancel, confirm),
  );
  const box = h("dialog", { "aria-labelledby": "bulk-title", onclose: () => box.remove() }, form);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    confirm.disabled = true;
    for (const trial of fitting) {
      try {
        await post(`/trials/${trial.id}/${action.path}`, action.body);
        results.set(trial.id, `✓ ${action.done}`);
      } catch (problem) {
        results.set(trial.id, `✗ ${problem.message}`);
      }
      show();
    }
    confirm.remove();
    cancel.textContent = "Close";
    cancel.focus();
    await refresh();
  });
  show();
  document.body.append(box);
  box.showModal();
}

const line = (trial, result) =>
  h("li", { key: trial.id, class: result.startsWith("✗") ? "bad" : null }, h("strong", {}, `${trial.project}/${trial.name}`), " ", result);
