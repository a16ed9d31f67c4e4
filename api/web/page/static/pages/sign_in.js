// Sign in with a token, and the health of the stack.
import { session, signIn } from "../core/api.js";
import { h } from "../core/dom.js";
import { healthCards, readiness, refreshWhileVisible } from "../components/health_cards.js";

export const title = () => "Sign in";
export const load = readiness;
export const enter = refreshWhileVisible;
export const leave = (context) => clearInterval(context.timer);
export const onEvent = () => false;

export function view(ready, context) {
  return h(
    "div",
    { class: "narrow" },
    h("h1", {}, "Sign in"),
    h(
      "form",
      { class: "card", onsubmit: (event) => submit(event, context) },
      h("p", {}, h("code", {}, "lanista up"), " prints a sign-in link. While the stack is running it only prints a new link."),
      h(
        "label",
        { for: "token" },
        "Sign in with a token. The local stack keeps one in ",
        h("code", {}, "admin.token"),
        " in its data folder; ",
        h("code", {}, "lanista token create"),
        " creates more.",
      ),
      h(
        "div",
        { class: "row" },
        h("input", { id: "token", type: "password", autocomplete: "off", required: true, maxlength: 200, placeholder: "lanista_…" }),
        h("button", { type: "submit" }, "Sign in"),
      ),
      h("p", { class: "error", role: "alert" }, context.state.error ?? session.error),
    ),
    h("h2", {}, "Parts"),
    healthCards(ready),
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
    context.state.error = problem.message;
    context.redraw();
  }
}
