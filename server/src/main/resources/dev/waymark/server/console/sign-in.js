// The form that asks for a token.
import { get } from './api.js';
import { h, replaceChildren } from './dom.js';
import { session } from './session.js';

/** Asks the server who the caller is. Returns true if the server accepts requests from this tab. */
export async function isSignedIn() {
  try {
    session.know(await get('/v1/me'));
    return true;
  } catch (problem) {
    if (problem.status === 401) {
      session.forget();
      return false;
    }
    throw problem;
  }
}

/** Shows the form until a token is accepted. */
export function signInForm(root, words = '') {
  return new Promise((resolve) => {
    const field = h('input', {
      id: 'token',
      type: 'password',
      autocomplete: 'off',
      spellcheck: 'false',
      required: true,
      'aria-describedby': 'token-note token-problem',
    });
    const problem = h('p', { id: 'token-problem', class: 'problem', role: 'alert' }, words);
    const button = h('button', { class: 'primary', type: 'submit' }, 'Sign in');
    const form = h(
      'form',
      {
        class: 'sign-in panel-card',
        onsubmit: async (event) => {
          event.preventDefault();
          button.disabled = true;
          session.hold(field.value.trim());
          try {
            if (await isSignedIn()) {
              resolve();
              return;
            }
            problem.textContent = 'The server does not accept this token.';
          } catch (failure) {
            session.forget();
            problem.textContent = failure.words ?? 'This is not a token.';
          }
          button.disabled = false;
          field.select();
        },
      },
      h('h1', {}, h('img', { src: '/console/icon.svg', alt: '', width: '28', height: '28' }), 'Waymark'),
      h('label', { for: 'token' }, 'Access token'),
      field,
      h(
        'p',
        { id: 'token-note', class: 'muted' },
        'Your administrator creates it with ',
        h('code', {}, 'waymark token'),
        ', or it comes from your identity provider. It is held in this tab only, until you close it or sign out.',
      ),
      problem,
      button,
    );
    replaceChildren(root, h('main', { class: 'centered' }, form));
    field.focus();
  });
}
