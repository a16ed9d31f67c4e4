// The values of a replay as lines, one for each team.
import { h, s } from "../core/dom.js";
import { seatsByTeam, teamOf } from "../core/teams.js";

/** The expected return of each team's first seat when it was to move, and its final return; null where none is known. */
export function valueChart(positions, ply, names, goTo) {
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
    goTo(Math.round(((event.clientX - box.left) / box.width) * end));
  };
  return h(
    "figure",
    { class: "values" },
    h(
      "figcaption",
      {},
      "Expected return of the player to move: ",
      names.map((name, team) => h("span", { class: "who" }, h("span", { class: "seat", "data-seat": team }), name)),
    ),
    s(
      "svg",
      {
        viewBox: `0 0 ${wide} ${high}`,
        role: "img",
        "aria-label": `Expected returns of ${names.join(" and ")} over the game`,
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
