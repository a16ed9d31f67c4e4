// Dialogs that confirm an action, and toasts that report its outcome.
import { h } from "../core/dom.js";

/** A dialog with fields. Resolves to the result of `perform`, else to the values; to null if it is cancelled. */
export function ask({ title, text, content = null, fields = [], action = "OK", danger = false, perform }) {
  return new Promise((resolve) => {
    const error = h("p", { role: "alert", class: "error" });
    const confirm = h("button", { type: "submit", class: danger ? "danger" : "" }, action);
    const form = h(
      "form",
      { method: "dialog" },
      h("h2", { id: "ask-title" }, title),
      text && h("p", {}, text),
      content,
      fields.map((field) => fieldOf(field)),
      error,
      h("div", { class: "row end" }, h("button", { type: "button", class: "plain", onclick: () => box.close() }, "Cancel"), confirm),
    );
    const box = h(
      "dialog",
      {
        "aria-labelledby": "ask-title",
        onclose: () => {
          box.remove();
          resolve(box.answer ?? null);
        },
      },
      form,
    );
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const values = Object.fromEntries(new FormData(form));
      confirm.disabled = true;
      try {
        box.answer = (await perform?.(values)) ?? values;
        box.close();
      } catch (problem) {
        error.textContent = problem.status === 409 ? `Conflict: ${problem.message}` : problem.message;
        confirm.disabled = false;
      }
    });
    document.body.append(box);
    box.showModal();
  });
}

function fieldOf({ name, label, value = "", options, rows, hint, ...rest }) {
  const control = rows
    ? h("textarea", { name, id: `ask-${name}`, rows, value, class: "prose", ...rest })
    : options
      ? h(
          "select",
          { name, id: `ask-${name}`, value },
          options.map(([key, text]) => h("option", { value: key, selected: key === value }, text)),
        )
      : h("input", { name, id: `ask-${name}`, value, autocomplete: "off", ...rest });
  return h("div", { class: "field" }, h("label", { for: `ask-${name}` }, label), control, hint && h("small", {}, hint));
}

/** A short message that disappears after some seconds. */
export function toast(text, kind = "good") {
  const note = h("div", { class: `toast ${kind}` }, text);
  document.getElementById("toasts").append(note);
  setTimeout(() => note.remove(), 6000);
}
