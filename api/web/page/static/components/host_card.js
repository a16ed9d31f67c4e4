// The hosts: roles, release, clock and problems; of connections only those that fail, so that 1,000 hosts stay readable.
import { h } from "../core/dom.js";
import { clock, fixed, signed, whole } from "../core/format.js";
import { badge, table } from "./widgets.js";

const MOST_WELL = 20; // hosts that are well are listed up to this many

export function hostCard({ hosts, unreached }) {
  if (!hosts?.length) return null;
  const wrong = hosts.filter((host) => host.problems.length);
  const left = hosts.filter((host) => host.left_at);
  const well = hosts.filter((host) => !host.problems.length && !host.left_at);
  const shown = [...wrong, ...left, ...well.slice(0, MOST_WELL)];
  const more = well.length - MOST_WELL;
  return h(
    "section",
    { class: "card", key: "hosts", "aria-label": "Hosts" },
    h("h2", {}, "Hosts"),
    table(
      "Hosts",
      [
        ["Host", (host) => [h("strong", {}, host.host), host.addresses.length ? h("small", {}, ` ${host.addresses.join(", ")}`) : ""]],
        ["Runs", (host) => host.roles.join(", ")],
        ["State", (host) => badge(stateOf(host))],
        ["Lanista", (host) => host.versions.join(", ") || "–"],
        ["Clock", (host) => clockOf(host), "number"],
        ["Problems", (host) => problemsOf(host), "long"],
      ],
      shown,
      (host) => host.host,
    ),
    more > 0 ? h("p", {}, h("small", {}, `and ${whole(more)} more without a problem`)) : null,
    unreached.length ? cuts(unreached) : null,
  );
}

const stateOf = (host) => (host.left_at ? "left" : host.problems.length ? "problem" : "ok");

function clockOf({ clock_ahead_seconds: ahead, clock_within_seconds: within }) {
  if (ahead === null) return "–";
  return h("span", { title: `against the clock of Postgres, within ${fixed(within, 2)} s` }, `${signed(ahead, 2)} s`);
}

function problemsOf(host) {
  if (host.left_at) return ["last seen ", h("time", { datetime: host.left_at }, clock(host.left_at))];
  return host.problems.join("; ") || "–";
}

function cuts(unreached) {
  return [
    h("h3", {}, "Connections that fail"),
    table(
      "Connections that fail",
      [
        ["From", (each) => h("strong", {}, each.source)],
        ["To", (each) => each.target],
        ["Problem", (each) => each.problem, "long"],
      ],
      unreached,
      (each) => `${each.source}>${each.target}`,
    ),
  ];
}
