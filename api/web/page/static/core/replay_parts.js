// A replay that is shown while it loads: its first part at once, the others as they arrive.

/** Read the replay named `key` by `read(first)`, unless it is on display already; a long game goes on loading afterwards. */
export async function loadReplay(context, key, read) {
  const { state } = context;
  if (state.key === key) return state.replay;
  const replay = await read(0);
  Object.assign(state, { replay, key });
  readOn(context, replay, read);
  return replay;
}

/** Leave off what has not arrived yet. */
export function stopLoading({ state }) {
  state.key = null;
}

async function readOn(context, replay, read) {
  const isShown = () => context.state.key !== null && context.state.replay === replay;
  while (replay.next !== null && isShown()) {
    try {
      const part = await read(replay.next);
      replay.positions = [...replay.positions, ...part.positions];
      replay.next = part.next;
    } catch (problem) {
      Object.assign(replay, { next: null, problem: `The rest could not be loaded: ${problem.message}` });
    }
    if (isShown()) context.redraw();
  }
}
