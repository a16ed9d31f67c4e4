// Calls of the REST API: JSON in and out, error answers as exceptions, the session's CSRF token on every call.
import { LruCache } from "./lru_cache.js";

const ROOT = "/api/v1";
// The session is a cookie that scripts cannot read, and which the browser sends to every port of this host. So the API also
// wants the CSRF token. It is kept here because the browser keeps this storage apart for each port.
const CSRF_TOKEN = "lanista-csrf-token";

export const session = { user: null, error: "" };

/** The header that proves that a request comes from this origin; read each time, since another tab may sign in anew. */
export const credentials = () => ({ "X-CSRF-Token": localStorage.getItem(CSRF_TOKEN) ?? "" });

/** A field as a person counts and calls it: `body.spec.entrants[1]` is "entrants 2". */
const fieldName = (field) => field.replace(/^(body|query)\.(spec\.)?/, "").replace(/\[(\d+)\]/g, (_, place) => ` ${Number(place) + 1}`);

/** What an error answer says to a person. */
function messageOf(status, { detail, errors = [] }) {
  if (misses(errors)) return "Nothing has this address: a part of it is not an id.";
  if (!errors.length) return detail ?? `the server answered ${status}`;
  return errors.map(({ field, message }) => `${fieldName(field)}: ${message}`).join("; ");
}

/** Whether a part of the address itself is wrong, so that there is nothing. */
const misses = (errors) => errors.some(({ field }) => field.startsWith("path."));

/** An error answer of the API; the message is the API's own, with fields as people call them. */
export class Problem extends Error {
  constructor(status, body) {
    super(messageOf(status, body));
    this.status = misses(body.errors ?? []) ? 404 : status;
    this.title = body.title ?? "Something went wrong";
    this.fields = body.errors ?? [];
  }
}

let reading = new AbortController(); // signing out aborts the reads of the session
const KEPT_ANSWERS = 60;
let answers = new LruCache(KEPT_ANSWERS); // by address: {etag, body}. In memory only, so that nothing outlives the session

/** Read; an answer that has not changed costs a few bytes, and is the same object as before. */
export async function get(path, parameters = {}, signal = undefined) {
  const ends = signal ? AbortSignal.any([signal, reading.signal]) : reading.signal;
  const url = address(path, parameters);
  const kept = answers.get(url);
  const headers = { ...credentials(), ...(kept && { "If-None-Match": kept.etag }) };
  const answer = await fetch(url, { signal: ends, headers });
  if (answer.status === 304 && kept) return kept.body;
  const body = await read(answer);
  const etag = answer.headers.get("ETag");
  if (etag?.startsWith("W/")) answers.set(url, { etag, body }); // weak: a hash of the body
  return body;
}

/** A text of the API, such as a trial file. */
export async function getText(path) {
  const answer = await fetch(address(path), { headers: credentials() });
  return answer.ok ? answer.text() : read(answer);
}

/** All items of a paginated list, up to a maximum. */
export async function getAll(path, parameters = {}, { maximum = 2000, signal } = {}) {
  const items = [];
  let cursor;
  do {
    const page = await get(path, { limit: Math.min(500, maximum), ...parameters, cursor }, signal);
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor && items.length < maximum);
  return items;
}

/** A request that changes something. The idempotency key makes a retry safe. */
export async function send(method, path, body = undefined, headers = {}) {
  const key = method === "POST" ? { "Idempotency-Key": crypto.randomUUID?.() ?? String(Math.random()) } : {};
  const options = { method, headers: { "Content-Type": "application/json", ...credentials(), ...key, ...headers } };
  if (body !== undefined) options.body = JSON.stringify(body);
  return read(await fetch(ROOT + path, options));
}

export const post = (path, body) => send("POST", path, body);

export function address(path, parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of [value].flat()) if (one !== undefined && one !== null && one !== "") query.append(name, one);
  }
  const text = query.toString();
  return ROOT + path + (text ? `?${text}` : "");
}

async function read(answer) {
  if (answer.status === 204) return null;
  const text = await answer.text();
  let body = {};
  try {
    body = JSON.parse(text);
  } catch {
    body = { detail: `the server answered ${answer.status} without JSON` };
    if (answer.ok) throw new Problem(answer.status, body);
  }
  if (answer.ok) return body;
  if (answer.status === 401) clearSession();
  throw new Problem(answer.status, body);
}

/** A file of the API: saved under the name that the API gives it, or shown in a tab of its own. */
export async function openFile(path, { save }) {
  const answer = await fetch(path, { headers: credentials() });
  if (!answer.ok) return read(answer);
  const file = URL.createObjectURL(await answer.blob());
  if (save) {
    const name = /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition") ?? "")?.[1] ?? "";
    Object.assign(document.createElement("a"), { href: file, download: name }).click();
  } else window.open(file);
  setTimeout(() => URL.revokeObjectURL(file), 60_000); // by then it is saved or shown
}

/** Resume the browser's session, if there is one. */
export async function resumeSession() {
  if (!localStorage.getItem(CSRF_TOKEN)) return;
  try {
    storeSession(await get("/session"));
  } catch (problem) {
    if (problem.status !== 401) throw problem;
  }
}

/** Sign in with a token or a one-time code. If it is refused, the present session is kept. */
export async function signIn(proof) {
  const before = session.user;
  try {
    storeSession(await post("/session", proof));
  } catch (problem) {
    if (before) storeSession(before);
    throw problem;
  }
}

/** The one-time code of a sign-in link; it is removed from the address at once. */
export function takeSignInCode() {
  if (location.pathname !== "/signin") return null;
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  history.replaceState(null, "", "/trials");
  return code;
}

export async function signOut() {
  reading.abort();
  reading = new AbortController();
  try {
    await send("DELETE", "/session");
  } catch (problem) {
    if (problem.status !== 401) throw problem; // else the session is over already
  }
  clearSession();
}

const SCOPES = ["viewer", "operator", "code", "admin"];

export const hasScope = (scope) => SCOPES.indexOf(session.user?.scope) >= SCOPES.indexOf(scope);

function storeSession(answer) {
  session.user = answer;
  session.error = "";
  localStorage.setItem(CSRF_TOKEN, answer.csrf_token);
}

function clearSession() {
  session.user = null;
  answers = new LruCache(KEPT_ANSWERS);
  localStorage.removeItem(CSRF_TOKEN);
}
