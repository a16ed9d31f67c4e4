// Start a tournament.
import { getAll, hasScope, post } from "../core/api.js";
import { toast } from "../components/dialog.js";
import { h } from "../core/dom.js";
import { draftOf, dropDraft, keepDraft } from "../core/drafts.js";
import { empty } from "../components/widgets.js";
import { tournamentFields, tournamentOf } from "../components/tournament_form.js";

const DRAFT = "new-tournament";
export const title = () => "Start a tournament";
export const onEvent = () => false;
export const load = async () => ({ trials: await getAll("/trials") });

export function view({ trials }, context) {
  if (!hasScope("operator"))
    return empty(
      "Start a tournament",
      "To start tournaments you need a token of scope operator. ",
      h("a", { href: "/tournaments" }, "All tournaments"),
    );
  if (!trials.length)
    return empty(
      "No trials yet",
      "A tournament is between versions of trials. ",
      h("a", { href: "/trials/new" }, "Start a trial"),
      " first.",
    );
  context.state.saved ??= JSON.parse(draftOf(DRAFT)?.text ?? "{}");
  return h(
    "div",
    { class: "narrow" },
    h("h1", {}, "Start a tournament"),
    h(
      "form",
      {
        class: "card form",
        onsubmit: (event) => submit(event, trials, context),
        oninput: (event) => keepDraft(DRAFT, JSON.stringify(Object.fromEntries(new FormData(event.currentTarget)))),
      },
      tournamentFields(trials, context.query, context.state.saved),
      h("p", { class: "error", role: "alert" }, context.state.error ?? ""),
      h("button", { type: "submit" }, "Start tournament"),
    ),
  );
}

async function submit(event, trials, context) {
  event.preventDefault();
  try {
    const made = await post("/tournaments", tournamentOf(Object.fromEntries(new FormData(event.target)), trials));
    dropDraft(DRAFT);
    toast(`${made.name} was created.`);
    await context.go(`/tournaments/${made.id}`);
  } catch (problem) {
    context.state.error = problem.message;
    context.redraw();
  }
}
