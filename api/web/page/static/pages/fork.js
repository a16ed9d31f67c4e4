// Fork a trial with changes: its file in an editor, and what differs from the parent before the fork starts.
import { get, getText, hasScope, post } from "../core/api.js";
import { toast } from "../components/dialog.js";
import { h } from "../core/dom.js";
import { draftOf, dropDraft, keepDraft } from "../core/drafts.js";
import { changesBetween, specDifferences } from "../core/spec_diff.js";
import { checkSoon, named } from "../components/file_check.js";
import { setText, verdict, yamlEditor } from "../components/yaml_editor.js";
import { shortValue } from "./sweep.js";

/** A fork has its parent's weights, so these cannot change. */
const KEPT = [/^game\b/, /^model\b/, /^league\.players\b/];
export const title = ({ trial }) => `Fork ${trial.name}`;
export const onEvent = () => false;

export async function load({ parameters, state }) {
  const root = `/trials/${parameters.trial}`;
  const [trial, text] = await Promise.all([get(root), state.origin ?? getText(`${root}/file`)]);
  state.origin ??= text.replace(/^trial: .*$/m, `trial: ${`${trial.name}-fork`.slice(0, 63)}`);
  return { trial };
}

const draftName = (trial) => `fork:${trial.id}`;

export function view({ trial }, context) {
  const { state } = context;
  if (state.text === undefined) {
    state.draft = draftOf(draftName(trial));
    checkSoon(state.draft?.text ?? state.origin, context);
  }
  const { checked } = state;
  const name = named(state.text, "trial", "");
  const differences = checked?.valid ? specDifferences(trial.spec, checked.spec) : [];
  const refused = refusals(trial, state.text, differences);
  return [
    h(
      "p",
      { class: "crumbs", key: "crumbs" },
      h("a", { href: "/trials" }, "Trials"),
      " / ",
      h("a", { href: `/trials/${trial.id}` }, trial.name),
    ),
    h("h1", { key: "h" }, `Fork ${trial.name}`),
    h(
      "p",
      { class: "quiet", key: "about" },
      "A fork starts from the parent's state at a commit: its players, weights, results and payoff. Weights are shared, not copied.",
    ),
    h(
      "div",
      { class: "split wide-first", key: "split" },
      h(
        "section",
        { "aria-label": "Trial file" },
        yamlEditor({
          id: "fork-file",
          label: "Trial file of the fork",
          hint: "(YAML): the parent's, with defaults; change what you like",
          text: state.text,
          problems: checked?.problems,
          draft: state.draft,
          discard: () => discard(trial, context),
          oninput: (text) => {
            keepDraft(draftName(trial), text, state.origin);
            checkSoon(text, context);
          },
        }),
        verdict("fork-file", checked),
      ),
      h(
        "section",
        { class: "card", "aria-label": "The fork" },
        h("h2", {}, "What differs from the parent"),
        checked?.valid ? differenceTable(differences, trial, name) : h("p", { class: "quiet" }, "Shown when the file is valid."),
        refused.map((words) => h("p", { class: "bad", role: "alert" }, words)),
        hasScope("operator") ? orders(trial, context, checked?.valid && !refused.length) : null,
      ),
    ),
  ];
}

function refusals(trial, text, differences) {
  const kept = differences.filter(({ path }) => KEPT.some((pattern) => pattern.test(path)));
  const removed = differences.filter(({ path, after }) => after === undefined && !KEPT.some((pattern) => pattern.test(path)));
  const project = named(text, "project", "default");
  return [
    kept.length ? `A fork keeps its parent's game, model and players; change back: ${kept.map(({ path }) => path).join(", ")}.` : null,
    project !== trial.project ? `A fork stays in its parent's project, ${trial.project}.` : null,
    removed.some(({ path }) => !path.startsWith("algorithm.") && !path.startsWith("league."))
      ? `A fork cannot remove options: ${removed.map(({ path }) => path).join(", ")}.`
      : null,
  ].filter(Boolean);
}

function differenceTable(differences, trial, name) {
  const rows = [{ path: "trial", before: trial.name, after: name }, ...differences];
  const cell = (value) => (value === undefined ? h("span", { class: "quiet" }, "none") : h("code", {}, shortValue(value ?? "null")));
  return [
    h(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "Differences" },
      h(
        "table",
        {},
        h("caption", { class: "unseen" }, "Differences"),
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            ["Field", "Parent", "Fork"].map((each) => h("th", { scope: "col" }, each)),
          ),
        ),
        h(
          "tbody",
          {},
          rows.map(({ path, before, after }) =>
            h("tr", { key: path }, h("th", { scope: "row" }, path), h("td", {}, cell(before)), h("td", { class: "differs" }, cell(after))),
          ),
        ),
      ),
    ),
    differences.length ? null : h("p", { class: "quiet" }, "The hyperparameters are the parent's."),
  ];
}

function orders(trial, context, ready) {
  const { state } = context;
  state.commit ??= trial.last_commit; // later commits of a running parent change neither what is shown nor what was typed
  const commit = {
    id: "at-commit",
    name: "at",
    type: "number",
    min: 0,
    max: trial.last_commit,
    value: state.commit,
    oninput: (event) => (state.commit = event.target.value),
  };
  return h(
    "form",
    { onsubmit: (event) => start(event, trial, context) },
    h(
      "div",
      { class: "field" },
      h("label", { for: "at-commit" }, "At commit"),
      h("input", commit),
      h("small", {}, `0 to ${trial.last_commit}, the newest`),
    ),
    h("p", { class: "error", role: "alert" }, state.error ?? ""),
    h("button", { type: "submit", disabled: !ready || state.starting }, "Start the fork"),
  );
}

function discard(trial, context) {
  const { state } = context;
  dropDraft(draftName(trial));
  state.draft = null;
  setText("fork-file", state.origin);
  checkSoon(state.origin, context);
  context.redraw();
}

async function start(event, trial, context) {
  event.preventDefault();
  const { state } = context;
  const at = new FormData(event.target).get("at");
  Object.assign(state, { starting: true, error: "" });
  context.redraw();
  try {
    const made = await post(`/trials/${trial.id}/fork`, {
      name: named(state.text, "trial", ""),
      at_commit: at === "" ? null : Number(at),
      changes: changesBetween(trial.spec, state.checked.spec),
    });
    dropDraft(draftName(trial));
    toast(`${made.name} was created.`);
    await context.go(`/trials/${made.id}`);
  } catch (problem) {
    state.error = problem.message;
  }
  state.starting = false;
  context.redraw();
}
