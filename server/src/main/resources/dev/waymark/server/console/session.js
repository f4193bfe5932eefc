// The user of this tab. The token is kept for this tab only and sent only in a header, never in a URL or a cookie.
const KEY = 'waymark.token';

let caller = { roles: [] };

export const session = {
  get token() {
    return sessionStorage.getItem(KEY);
  },
  get caller() {
    return caller;
  },
  hold(token) {
    sessionStorage.setItem(KEY, token);
  },
  know(me) {
    caller = me;
  },
  forget() {
    sessionStorage.removeItem(KEY);
    caller = { roles: [] };
  },
  may: (role) => caller.roles.includes(role),
  /** Whether one of these requests may be decided here. */
  isAwaited: (requests = []) => requests.some(({ kind, signers, signed }) => signers === undefined && !signed && caller.roles.includes(kind === 'question' ? 'talk' : 'decide')),
};
