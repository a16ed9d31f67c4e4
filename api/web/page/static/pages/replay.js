// A recorded game, move by move, with the policies and values of the versions.
import { actionName, areasOf, board, policyShares } from "../components/board.js";
import { h, s } from "../core/dom.js";
import { percent, signed, versionName, humanize } from "../core/format.js";
import { badge, card, facts, pick, shares, time, versionLink } from "../components/widgets.js";
import { annotatedReplay } from "../core/replay_annotations.js";
import { seatsByTeam, teamOf, teamReturns } from "../core/teams.js";

export const title = ({ replay }) => `Game #${replay.match.id}`;
export const onEvent = () => false;

export async function load({ parameters, query, state }) {
  const key = `${parameters.match} ${query.annotate ?? ""} ${query.search ?? ""}`;
  if (state.key !== key) {
    const replay = await annotatedReplay(parameters.match, query.annotate ?? "movers", query.search);
    Object.assign(state, { replay, key });
  }
  return { replay: state.replay };
}

export function enter(context) {
  context.keys = (event) => {
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || event.altKey || event.ctrlKey || event.metaKey) return;
    const last = (context.state.replay?.positions.length ?? 1) - 1;
    const now = plyOf(context, last);
    const to = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    goTo(Math.max(0, Math.min(last, to)), context);
  };
  document.addEventListener("keydown", context.keys);
}

export const leave = (context) => document.removeEventListener("keydown", context.keys);

const SEARCHES = [
  ["", "none: the network alone"],
  ["64", "64 simulations"],
  ["200", "200 simulations"],
];
const known = (value) => value !== null && value !== undefined;
const plyOf = (context, last) => Math.max(0, Math.min(last, Number(context.query.ply ?? 0) || 0));
const goTo = (ply, context) => context.setQuery({ ply });

export function view({ replay }, context) {
  const { match, positions } = replay;
  const last = positions.length - 1;
  const ply = plyOf(context, last);
  const areas = areasOf(positions[ply]);
  const names = [versionName(match.player, match.version_number), versionName(match.opponent, match.opponent_version_number)];
  const links = [versionLink(match.version_id, names[0]), versionLink(match.opponent_version_id, names[1])];
  const teams = seatsByTeam(positions[0]);
  const sides = teams.map((_, team) => names[team === match.seat ? 0 : 1]);
  return [
    h(
      "div",
      { key: "title" },
      h("p", { class: "crumbs" }, match.trial_id ? h("a", { href: `/trials/${match.trial_id}/matches` }, "Matches") : "Game"),
      h("h1", {}, `Game #${match.id} `, badge(match.result)),
      h("p", { class: "quiet" }, `${sides.join(" against ")}: ${match.result} for ${names[0]}`),
    ),
    h(
      "div",
      { class: "beside", key: "game" },
      h(
        "section",
        { class: "card", "aria-label": "Board" },
        shownBoard(positions, ply, areas),
        controls(ply, last, context),
        values(positions, ply, sides, context),
      ),
      h(
        "div",
        {},
        policyCard(replay, positions[ply], { names, sides, areas }, context),
        card("Moves", moveList(positions, ply, areas, context)),
        card(
          "Players",
          facts([
            ...teams.map((seats, team) => [sideName(seats, team, teams), links[team === match.seat ? 0 : 1]]),
            ["Played for", humanize(match.stream)],
            ["When", time(match.played_at)],
            ["Seed", h("code", {}, match.seed)],
          ]),
        ),
      ),
    ),
  ];
}

/** "First" and "Second" in games of two seats, else the seats of the team. */
const sideName = (seats, team, teams) =>
  teams.flat().length <= 2 ? ["First", "Second"][team] : `${seats.length > 1 ? "Seats" : "Seat"} ${seats.join(", ")}`;

function shownBoard(positions, ply, areas) {
  const position = positions[ply];
  const policy = (position.legal[0] ?? []).filter((each) => each.probability !== null).map((each) => [each.action, each.probability]);
  return board(position, {
    areas,
    moves: positions.slice(0, ply).flatMap((each) => each.actions),
    policy: policy.length ? new Map(policy) : null,
  });
}

function controls(ply, last, context) {
  const jump = (to, text, label) =>
    h(
      "button",
      { class: "plain", "aria-label": label, disabled: to < 0 || to > last || to === ply, onclick: () => goTo(to, context) },
      text,
    );
  return [
    h(
      "div",
      { class: "row center", role: "group", "aria-label": "Moves" },
      jump(0, "«", "First position"),
      jump(ply - 1, "‹", "Previous move"),
      h("span", { role: "status", class: "ply" }, `${ply} of ${last}`),
      jump(ply + 1, "›", "Next move"),
      jump(last, "»", "Last position"),
    ),
    h("label", { class: "unseen", for: "ply" }, "Position"),
    h("input", { id: "ply", type: "range", min: 0, max: last, value: ply, oninput: (event) => goTo(event.target.value, context) }),
    h("p", { class: "quiet center" }, "Arrow keys: one move. Home and End: first and last position."),
  ];
}

/** The expected return of each team's first seat when it was to move, and its final return. */
function values(positions, ply, sides, context) {
  const end = positions.length - 1;
  const lines = seatsByTeam(positions[0]).map(([seat], team) =>
    positions.flatMap((each, place) =>
      each.done && place === end
        ? [[place, each.returns[seat]]]
        : teamOf(each, each.seats[0]) === team && each.value !== null
          ? [[place, each.value]]
          : [],
    ),
  );
  if (lines.every((line) => line.length < 2)) return null;
  const [wide, high, most] = [600, 120, Math.max(1, ...lines.flat().map(([, value]) => Math.abs(value)))];
  const x = (place) => 8 + (place / Math.max(1, end)) * (wide - 16);
  const y = (value) => high / 2 - (value / most) * (high / 2 - 8);
  const jump = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    goTo(Math.round(((event.clientX - box.left) / box.width) * end), context);
  };
  return h(
    "figure",
    { class: "values" },
    h(
      "figcaption",
      {},
      "Expected return of the player to move: ",
      sides.map((name, team) => h("span", { class: "who" }, h("span", { class: "seat", "data-seat": team }), name)),
    ),
    s(
      "svg",
      {
        viewBox: `0 0 ${wide} ${high}`,
        role: "img",
        "aria-label": `Expected returns of ${sides.join(" and ")} over the game`,
        onclick: jump,
      },
      s("line", { class: "zero", x1: 0, y1: high / 2, x2: wide, y2: high / 2 }),
      s("line", { class: "now", x1: x(ply), y1: 0, x2: x(ply), y2: high }),
      lines.map((line, seat) => [
        s("polyline", {
          "data-seat": seat,
          points: line.map(([place, value]) => `${x(place).toFixed(1)},${y(value).toFixed(1)}`).join(" "),
        }),
        line
          .filter(([place]) => place === ply)
          .map(([place, value]) => s("circle", { "data-seat": seat, cx: x(place), cy: y(value), r: 5 })),
      ]),
    ),
  );
}

function policyCard(replay, position, { names, sides, areas }, context) {
  const { match } = replay;
  const whose = [
    ["", "the player to move"],
    [match.version_id, names[0]],
    [match.opponent_version_id, names[1]],
    ["nobody", "no annotation"],
  ];
  const policy = policyShares(position, areas);
  const found = policyShares(position, areas, "searched");
  const asked = context.query.annotate !== "nobody";
  return h(
    "section",
    { class: "card", "aria-label": "Policy and value" },
    h("h2", {}, "Policy and value"),
    pick("Annotated by", "annotate", whose, context.query.annotate ?? "", (value) => context.setQuery({ annotate: value })),
    asked ? pick("Search", "search", SEARCHES, context.query.search ?? "", (value) => context.setQuery({ search: value })) : null,
    replay.problem ? h("p", { class: "bad", role: "alert" }, replay.problem) : null,
    position.done
      ? h(
          "p",
          {},
          h(
            "strong",
            {},
            `The game is over: ${teamReturns(position)
              .map((value) => signed(value, 0))
              .join(" : ")}.`,
          ),
        )
      : [
          h(
            "p",
            {},
            "To move: ",
            h("strong", {}, movers(position, sides).join(", ")),
            position.value === null ? "" : [", value ", h("strong", { class: "value" }, signed(position.value, 2))],
            known(position.searched_value) ? [", by search ", h("strong", { class: "value" }, signed(position.searched_value, 2))] : "",
          ),
          policy.length ? shares(policy, "Policy") : asked ? h("p", { class: "quiet" }, "A bot has no policy to show.") : null,
          found.length ? [h("h3", {}, "What the search makes of it"), shares(found, "Policy by search")] : null,
        ],
  );
}

/** Who is to move, each named once. */
const movers = (position, sides) => [...new Set(position.seats.map((seat) => sides[teamOf(position, seat)] ?? `seat ${seat}`))];

function moveList(positions, ply, areas, context) {
  return h(
    "ol",
    { class: "moves", tabindex: 0, "aria-label": "Every move, its probability and the value before it" },
    positions.slice(0, -1).map((each, place) => {
      const chosen = (each.legal[0] ?? []).find((legal) => legal.action === each.actions[0]);
      return h(
        "li",
        { key: place },
        h(
          "button",
          { class: "move", "aria-current": place + 1 === ply ? "step" : null, onclick: () => goTo(place + 1, context) },
          h("span", { class: "number" }, `${place + 1}.`),
          h("span", { class: "seat", "data-seat": teamOf(each, each.seats[0]) }),
          h("b", {}, each.actions.map((action, at) => actionName(areas, action, each.names[at])).join(", ") || "–"),
          h(
            "span",
            { class: "number" },
            chosen?.probability === null || chosen?.probability === undefined ? "" : percent(chosen.probability),
          ),
          h("span", { class: "number" }, each.value === null ? "" : signed(each.value, 2)),
        ),
      );
    }),
  );
}
