// Signing in with a token, and whether the parts of the stack are well.
import { session, signIn } from "../core/api.js";
import { h } from "../core/dom.js";
import { partCards, readiness, watchParts } from "../components/health_cards.js";

export const title = () => "Sign in";
export const load = readiness;
export const enter = watchParts;
export const leave = (context) => clearInterval(context.timer);
export const hear = () => false;

export function view(ready, context) {
  return h(
    "div",
    { class: "narrow" },
    h("h1", {}, "Sign in"),
    h(
      "form",
      { class: "card", onsubmit: (event) => submit(event, context) },
      h(
        "p",
        {},
        h("code", {}, "lanista up"),
        " prints a link that signs you in; while the stack runs, it starts nothing and prints a new one.",
      ),
      h(
        "label",
        { for: "token" },
        "Sign in with a token. The local stack keeps one in ",
        h("code", {}, "admin.token"),
        " in its data folder; ",
        h("code", {}, "lanista token create"),
        " makes more.",
      ),
      h(
        "div",
        { class: "row" },
        h("input", { id: "token", type: "password", autocomplete: "off", required: true, maxlength: 200, placeholder: "lanista_…" }),
        h("button", { type: "submit" }, "Sign in"),
      ),
      h("p", { class: "refusal", role: "alert" }, context.state.refusal ?? session.refusal),
    ),
    h("h2", {}, "Parts"),
    partCards(ready),
  );
}

async function submit(event, context) {
  event.preventDefault();
  const field = event.target.querySelector("input");
  try {
    await signIn({ token: field.value.trim() });
    field.value = "";
    await context.go(location.pathname + location.search);
  } catch (problem) {
    context.state.refusal = problem.message;
    context.redraw();
  }
}
