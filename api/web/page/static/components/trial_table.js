// The table of trials: sorted by the server, with boxes to select several.
import { h } from "../core/dom.js";
import { gameName, percent, short, speedText } from "../core/format.js";
import { badge, time } from "./widgets.js";
import { budgetUsed, endText } from "../core/trial_end.js";
import { healthSign, tagList } from "./trial_frame.js";

const COLUMNS = [
  ["Name", "name"],
  ["Project", "project"],
  ["Game", "game"],
  ["Status", "status"],
  ["Steps", "steps", "number"],
  ["Progress", null, "number"],
  ["Speed", null, "number"],
  ["Ends", null],
  ["Created", "created"],
];
const FALLS_FIRST = ["steps", "created"]; // the most and the newest are asked for first

/** The order after a click on a column: its natural one, then the other. */
export function nextSort(now, column) {
  const first = FALLS_FIRST.includes(column) ? `-${column}` : column;
  const second = FALLS_FIRST.includes(column) ? column : `-${column}`;
  return now === first ? second : first;
}

export function trialTable(trials, { sort, setSort, selected, toggle, toggleAll, nowOf }) {
  const all = trials.length > 0 && trials.every((trial) => selected.has(trial.id));
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": "Trials" },
    h(
      "table",
      { class: "trial-table" },
      h("caption", { class: "unseen" }, "Trials"),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h(
            "th",
            { scope: "col" },
            h("input", {
              type: "checkbox",
              "aria-label": "Select all shown trials",
              checked: all,
              onchange: (event) => toggleAll(event.target.checked),
            }),
          ),
          COLUMNS.map((column) => heading(column, sort, setSort)),
        ),
      ),
      h(
        "tbody",
        {},
        trials.map((trial) => row(trial, selected.has(trial.id), toggle, nowOf(trial))),
      ),
    ),
  );
}

function heading([name, column, kind], sort, setSort) {
  if (!column) return h("th", { scope: "col", class: kind }, name);
  const order = sort === column ? "ascending" : sort === `-${column}` ? "descending" : null;
  const arrow = { ascending: " ↑", descending: " ↓" }[order] ?? "";
  return h(
    "th",
    { scope: "col", class: kind, "aria-sort": order ?? "none" },
    h("button", { class: "sort", onclick: () => setSort(nextSort(sort, column)) }, name, h("span", { "aria-hidden": "true" }, arrow)),
  );
}

const projectLink = (name) => h("a", { href: `/trials?view=table&project=${encodeURIComponent(name)}` }, name);

function row(trial, isSelected, toggle, now) {
  const used = budgetUsed(trial);
  const ends = endText(trial, now?.speed);
  return h(
    "tr",
    { key: trial.id, class: isSelected ? "selected" : null },
    h(
      "td",
      {},
      h("input", {
        type: "checkbox",
        "aria-label": `Select ${trial.project}/${trial.name}`,
        checked: isSelected,
        onchange: (event) => toggle(trial.id, event.target.checked),
      }),
    ),
    h("td", {}, healthSign(trial, now), h("a", { href: `/trials/${trial.id}` }, trial.name), " ", tagList(trial.tags)),
    h("td", {}, projectLink(trial.project)),
    h("td", {}, gameName(trial.game)),
    h("td", {}, badge(trial.status), trial.archived_at ? " archived" : ""),
    h("td", { class: "number" }, short(trial.steps)),
    h("td", { class: "number" }, used === null ? "–" : percent(used)),
    h("td", { class: "number" }, trial.status === "running" && now?.speed ? speedText(now.speed) : "–"),
    h("td", { title: ends.more }, trial.status === "running" ? [ends.value, h("br"), h("small", { class: "quiet" }, ends.more)] : "–"),
    h("td", {}, time(trial.created_at)),
  );
}
