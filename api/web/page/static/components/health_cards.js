// The parts of the stack, each by name, looked at again and again while they are shown.
import { h } from "../core/dom.js";

const EVERY_MS = 3000;

export async function readiness() {
  return (await fetch("/readyz")).json(); // 503 carries the same document: which part is away
}

export function watchParts(context) {
  context.timer = setInterval(() => document.visibilityState === "visible" && context.refresh(), EVERY_MS);
}

export function partCards(ready) {
  const text = ready.ready ? "All parts are ready." : "A part does not answer; the stack restarts what died.";
  return [
    h("p", { id: "summary", role: "status", class: ready.ready ? "good" : "bad" }, text),
    h(
      "ul",
      { class: "cards" },
      Object.entries(ready.parts).map(([name, part]) =>
        h(
          "li",
          { key: name, "data-part": name, "data-ok": part.ok },
          h("span", { class: "state" }, part.ok ? "ready" : "away"),
          h("strong", {}, name),
          h("span", { class: "detail" }, part.detail),
        ),
      ),
    ),
  ];
}
