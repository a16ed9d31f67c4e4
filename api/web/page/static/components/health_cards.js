// Health of the parts of the stack, refreshed while it is visible.
import { h } from "../core/dom.js";
import { isLoading } from "../core/schedule.js";

const EVERY_MS = 3000;

export async function readiness() {
  return (await fetch("/readyz")).json(); // a 503 answer has the same body
}

/** Load the page again and again; while a load takes longer than the interval no other begins, so that none pile up. */
export function refreshWhileVisible(context, milliseconds = EVERY_MS) {
  context.timer = setInterval(() => document.visibilityState === "visible" && !isLoading() && context.refresh(), milliseconds);
}

export function healthCards(ready) {
  const text = ready.ready ? "All parts are ready." : "A part is not responding. The local stack restarts crashed processes.";
  return [
    h("p", { id: "summary", role: "status", class: ready.ready ? "good" : "bad" }, text),
    h(
      "ul",
      { class: "cards" },
      Object.entries(ready.parts).map(([name, part]) =>
        h(
          "li",
          { key: name, "data-part": name, "data-ok": part.ok },
          h("span", { class: "state" }, part.ok ? "ready" : "unavailable"),
          h("strong", {}, name),
          h("span", { class: "detail" }, part.detail),
        ),
      ),
    ),
  ];
}
