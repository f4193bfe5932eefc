// What the page shows, as its address, so that a reload and a link that somebody sends show it again.

/** The kind of page, its id, and the rest of the address: `{ kind, id, panel, version, call }`. */
export function currentAddress() {
  const [, kind, id, query = ''] = location.hash.match(/^#\/(thread|new|alike|schedules)(?:\/([^/?]+))?(?:\?(.*))?$/) ?? [];
  const { panel, version, call } = Object.fromEntries(new URLSearchParams(query));
  return { kind, id: id && decoded(id), panel, version, call };
}

function decoded(id) {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

/** The address of a thread, with a panel, a version in its timeline, or one of its calls. */
export function threadLink(thread, place = {}) {
  const query = String(new URLSearchParams(Object.entries(place).filter(([, value]) => value !== undefined && value !== '')));
  return `#/thread/${encodeURIComponent(thread)}${query === '' ? '' : `?${query}`}`;
}

/** The address of the page that decides requests of a tool together. */
export const alikeLink = (tool) => `#/alike/${encodeURIComponent(tool)}`;

export const goToThread = (thread) => {
  location.hash = threadLink(thread);
};

/** Changes the address, so that the browser can go back to the one before. */
export const addToHistory = (link) => {
  if (link !== location.hash) history.pushState(null, '', link);
};

/** Changes the address without another entry in the browser's history. */
export const noteAddress = (link) => history.replaceState(history.state, '', link);

/** The whole address of a call of the thread that is shown, without what the list shows. */
export const callLink = (call) => `${location.origin}${location.pathname}${threadLink(currentAddress().id, { call })}`;

/** What the list shows, which stays as threads are opened. */
export const listAddress = () => Object.fromEntries(new URLSearchParams(location.search));

export function noteListAddress(chosen) {
  const query = String(new URLSearchParams(Object.entries(chosen).filter(([, value]) => value !== '')));
  noteAddress(`${location.pathname}${query === '' ? '' : `?${query}`}${location.hash}`);
}
