// Small widgets that several pages use: badges, bars, cards, tables, selects.
import { h, s } from "../core/dom.js";
import { linkedPieces, namesOf } from "../core/event_links.js";
import { meaningOf } from "../core/glossary.js";
import { problemOf } from "../core/parts.js";
import { day, percent, short, humanize, properMinus } from "../core/format.js";

export const badge = (status) => h("span", { class: "badge", "data-status": status }, humanize(status));

export const time = (text) => (text ? h("time", { datetime: text, title: new Date(text).toString() }, day(text)) : "–");

export function bar(value, most, label) {
  const share = most ? Math.min(1, value / most) : 0;
  return h(
    "div",
    {
      class: "bar",
      role: "progressbar",
      "aria-label": label,
      "aria-valuemin": 0,
      "aria-valuemax": 100,
      "aria-valuenow": Math.round(share * 100),
    },
    h("span", { style: `width:${(share * 100).toFixed(1)}%` }),
  );
}

/** A meter: how much of a resource is in use. */
export function meter(value, most, label) {
  const share = most ? Math.min(1, value / most) : 0;
  return h(
    "div",
    {
      class: "bar",
      role: "meter",
      "aria-label": label,
      "aria-valuemin": 0,
      "aria-valuemax": 100,
      "aria-valuenow": Math.round(share * 100),
    },
    h("span", { style: `width:${(share * 100).toFixed(1)}%` }),
  );
}

export function empty(title, ...text) {
  return h("section", { class: "empty" }, h("h2", {}, title), h("p", {}, text));
}

/** A term with its meaning on hover and on focus; other words as they are. */
export function term(word, text = word) {
  const meaning = typeof word === "string" ? meaningOf(word) : undefined;
  return meaning ? h("abbr", { class: "term", title: meaning, tabindex: 0 }, text) : text;
}

export function card(title, ...content) {
  return h("section", { class: "card", "aria-label": title }, h("h2", {}, term(title)), content);
}

/** What is shown in place of values that are not known. */
export const missing = (reason, advice) =>
  h("p", { class: "warning", role: "status" }, h("strong", {}, "Unknown: "), reason ?? "no answer", ". ", advice);

/** What `draw` makes of a part of the page; in its place the error, where it could not be read. */
export function orProblem(value, draw) {
  const problem = problemOf(value);
  return problem ? partError(problem) : draw(value);
}

/** The same for a part that has no place of its own: nothing, if it was read. */
export const problemWith = (what, value) => {
  const problem = problemOf(value);
  return problem ? partError(problem, `${what} could not be read: `) : null;
};

const partError = (problem, lead = "This part could not be read: ") =>
  h("p", { class: "warning part-error", role: "status" }, h("strong", {}, lead), problem, ". The page asks for it again by itself.");

export function facts(pairs) {
  return h(
    "dl",
    { class: "facts" },
    pairs
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => h("div", {}, h("dt", {}, term(name)), h("dd", {}, value))),
  );
}

/** A table; columns are [title, cell, class]. */
export function table(caption, columns, rows, keyOf) {
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    h(
      "table",
      {},
      h("caption", { class: "unseen" }, caption),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          columns.map(([title, , kind]) => h("th", { scope: "col", class: kind }, term(title))),
        ),
      ),
      h(
        "tbody",
        {},
        rows.map((row, place) =>
          h(
            "tr",
            { key: keyOf ? keyOf(row) : place },
            columns.map(([, cell, kind]) => h("td", { class: kind }, cell(row))),
          ),
        ),
      ),
    ),
  );
}

/** The sentence of an event, each name in it a link; `players` are those of its trial. */
export const eventText = (text, event, players) =>
  linkedPieces(properMinus(text), namesOf(event, players)).map((piece) =>
    typeof piece === "string" ? piece : h("a", { href: piece.href }, piece.name),
  );

/** A sparkline of values. */
export function sparkline(values, label) {
  if (values.length < 2) return h("span", { class: "quiet" }, "–");
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const points = values.map(
    (value, place) =>
      `${(2 + (place / (values.length - 1)) * 96).toFixed(1)},${(22 - ((value - low) / (high - low || 1)) * 18).toFixed(1)}`,
  );
  return s(
    "svg",
    { class: "spark", viewBox: "0 0 100 26", role: "img", "aria-label": label },
    s("polyline", { points: points.join(" "), fill: "none", stroke: "currentColor", "stroke-width": 2 }),
  );
}

/** Labelled bars, one per share; their full width is 100 %. */
export function shares(rows, label) {
  if (!rows.length) return h("p", { class: "quiet" }, "No data yet.");
  return h(
    "ol",
    { class: "shares", "aria-label": label },
    rows.map((row) =>
      h(
        "li",
        { key: row.key },
        h("span", { class: "name" }, row.name),
        h("span", { class: "track" }, h("span", { style: `width:${100 * row.share}%` })),
        h("span", { class: "number" }, percent(row.share, 1)),
      ),
    ),
  );
}

export const pick = (label, name, options, value, onchange) =>
  h(
    "label",
    { class: "pick" },
    label,
    " ",
    h(
      "select",
      { name, value, onchange: (event) => onchange(event.target.value, event.target) },
      options.map(([key, text]) => h("option", { value: key, selected: key === value }, text)),
    ),
  );

export const versionLink = (id, text) => h("a", { href: `/versions/${id}` }, text);
/** "of lagoon", with a link: for a player of another trial than the one on display, where the same names are common. */
export const ofTrial = (id, name, prefix = " of ") => [prefix, h("a", { href: `/trials/${id}` }, name ?? "another trial")];
/** A version that `readStrangers` found, as seen from a trial: its name, and where it is of another trial that one's. */
export const versionSeenFrom = (trial, { id, name, trial_id: home, trial: homeName }) => [
  versionLink(id, name),
  home === trial ? "" : ofTrial(home, homeName),
];
export const steps = (value) => h("span", { title: String(value) }, short(value));
