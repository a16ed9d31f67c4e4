// Formats numbers, times and names for people; times are in the browser's time zone.
const LOCALE = "en-GB";
const WHOLE = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const SHORT = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });
const TINY = new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 2 });
const CLOCK = new Intl.DateTimeFormat(LOCALE, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const DATE = new Intl.DateTimeFormat(LOCALE, { day: "numeric", month: "short" });
const DAY = new Intl.DateTimeFormat(LOCALE, { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });

export const whole = (value) => (value === null || value === undefined ? "–" : WHOLE.format(value));
export const short = (value) => (value === null || value === undefined ? "–" : SHORT.format(value));
/** A count in at most four characters, where there is no room for more. */
export const tiny = (value) => (value < 1000 ? String(value) : TINY.format(value));
export const fixed = (value, digits = 2) => (value === null || value === undefined ? "–" : value.toFixed(digits).replace("-", "−"));
/** Numbers in a sentence with the minus sign that all other numbers of the page have. */
export const properMinus = (text) => text.replace(/(?<![\w.-])-(?=\d)/g, "−");
export const percent = (value, digits = 0) => (value === null || value === undefined ? "–" : `${(100 * value).toFixed(digits)} %`);
export const signed = (value, digits = 0) =>
  value === null || value === undefined ? "–" : `${value >= 0 ? "+" : "−"}${Math.abs(value).toFixed(digits)}`;
export const clock = (text) => CLOCK.format(new Date(text));
export const day = (text) => (text ? DAY.format(new Date(text)) : "–");
/** The time of today, and of another day its date as well: a page stays open for days. */
export const moment = (text) =>
  new Date(text).toDateString() === new Date().toDateString() ? clock(text) : `${DATE.format(new Date(text))}, ${clock(text).slice(0, 5)}`;
/** A time to the minute, with its date unless that is today's. */
export const clockTime = (when, now = Date.now()) =>
  `${when.toDateString() === new Date(now).toDateString() ? "" : `${DATE.format(when)}, `}${CLOCK.format(when).slice(0, 5)}`;
export const zone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

export function duration(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  const all = Math.max(0, Math.round(seconds)); // rounded once, or 359.7 s would be 5 min 60 s
  if (all < 60) return `${all} s`;
  if (all < 3600) return `${Math.floor(all / 60)} min${all % 60 ? ` ${all % 60} s` : ""}`;
  if (all < 86400) return `${Math.floor(all / 3600)} h ${Math.floor((all % 3600) / 60)} min`;
  return `${Math.floor(all / 86400)} d ${Math.floor((all % 86400) / 3600)} h`;
}

/** A time to come, to the precision that is known: what is hours away is not told in seconds. */
export const about = (seconds) => (seconds < 600 ? duration(seconds) : duration(Math.round(seconds / 60) * 60));

export const since = (text) => duration((Date.now() - new Date(text)) / 1000);

export function bytes(size) {
  if (size === null || size === undefined) return "–";
  const units = ["B", "KiB", "MiB", "GiB"];
  const power = Math.min(3, Math.floor(Math.log2(Math.max(1, size)) / 10));
  return `${(size / 1024 ** power).toFixed(power ? 1 : 0)} ${units[power]}`;
}

/** The speed of a trial, everywhere the same number. */
export const speedText = (speed) => `${whole(speed.steps_per_second)} steps/s`;

/** A message and what follows its first line, such as a traceback. */
export function messageAndTrace(text) {
  const [message, ...trace] = (text ?? "").split("\n");
  return { message, trace: trace.join("\n") };
}

/** A game as the API names it, `gymnasium {"env":"CartPole-v1","max_steps":null}`, in words: its options without their names. */
export function gameName(text) {
  const [, id, options] = /^(\S+) ({.*})$/s.exec(text) ?? [];
  if (!options) return text;
  const values = Object.values(JSON.parse(options)).filter((value) => ["string", "number"].includes(typeof value));
  return [id, ...values].join(" ");
}

/** A count with its noun, which gets an s unless it is one. */
export const counted = (count, noun) => `${whole(count)} ${noun}${count === 1 ? "" : "s"}`;
export const humanize = (name) => name.replaceAll("_", " ");
/** The outcome of a gate in one word, everywhere the same: a candidate is refused, its gate has not failed. */
export const gateStatus = (status) => (status === "failed" ? "refused" : status);
/** The reason that a gate gives, with that word. */
export const gateReason = (text) =>
  properMinus(text)
    .replace(/^the gate failed\b/, "refused")
    .replace(/^the gate passed\b/, "passed");
/** A name of own code as its author wrote it, without the archive that it is in. */
export const plainName = (name) => name.replace(/^lanista_code_[0-9a-f]{64}\./, "");
/** A version by its player; a snapshot (`main-3`) has only one, whose number says nothing. */
export const versionName = (player, number) => (number === 0 && /-\d+$/.test(player) ? player : `${player} v${number}`);
const ONLY_VERSION = { historical: "snapshot", bot: "bot" };
/** A player's newest version without the player's name; a snapshot and a bot have only one, whose number says nothing. */
export const newestVersion = ({ role, version_number: number }) => ONLY_VERSION[role] ?? `v${number}`;
/** The same for a label that the API has put together. */
export const versionLabel = (label) => label.replace(/(-\d+) v0$/, "$1");
