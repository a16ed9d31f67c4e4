// Calls of the REST API: JSON in and out, error answers as exceptions, the session's CSRF token on changes.
const ROOT = "/api/v1";
const SIGNED_IN = "lanista-signed-in"; // the session itself is a cookie that scripts cannot read

export const session = { user: null, csrf: null, error: "" };

/** An error answer of the API; the message is the API's own. */
export class Problem extends Error {
  constructor(status, body) {
    super(body.detail ?? `the server answered ${status}`);
    this.status = status;
    this.title = body.title ?? "Something went wrong";
    this.fields = body.errors ?? [];
  }
}

let reading = new AbortController(); // signing out aborts the reads of the session

export async function get(path, parameters = {}, signal = undefined) {
  const ends = signal ? AbortSignal.any([signal, reading.signal]) : reading.signal;
  return read(await fetch(address(path, parameters), { signal: ends }));
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
  const options = { method, headers: { "Content-Type": "application/json", "X-CSRF-Token": session.csrf ?? "", ...key, ...headers } };
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

/** Resume the browser's session, if there is one. */
export async function resumeSession() {
  if (!localStorage.getItem(SIGNED_IN)) return;
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
  await send("DELETE", "/session");
  clearSession();
}

export const hasScope = (scope) =>
  ["viewer", "operator", "admin"].indexOf(session.user?.scope) >= ["viewer", "operator", "admin"].indexOf(scope);

function storeSession(answer) {
  session.user = answer;
  session.csrf = answer.csrf_token;
  session.error = "";
  localStorage.setItem(SIGNED_IN, "yes");
}

function clearSession() {
  session.user = session.csrf = null;
  localStorage.removeItem(SIGNED_IN);
}
