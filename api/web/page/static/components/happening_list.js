// What happens in a trial, newest first, in rows of equal height: a new event changes texts and moves nothing.
import { h } from "../core/dom.js";
import { messageAndTrace, moment, properMinus } from "../core/format.js";
import { eventText } from "./widgets.js";

/** Rows have no keys on purpose: the first row shows the newest event, whichever that is. */
export function happeningList(events, trial, players = []) {
  return h(
    "ol",
    { class: "events happenings", tabindex: 0, "aria-label": "Events, newest first" },
    events.length ? events.map((event) => row(event, trial, players)) : h("li", { class: "quiet" }, "New events appear here."),
  );
}

function row(event, trial, players) {
  const { message, trace } = messageAndTrace(properMinus(event.text));
  return h(
    "li",
    { class: event.level, title: message },
    h("time", { datetime: event.created_at }, moment(event.created_at)),
    h("span", { key: event.id }, eventText(message, event, players)), // another event: new words, none of which has moved
    trace ? h("a", { href: `/trials/${trial.id}/problems` }, "traceback") : null,
  );
}
