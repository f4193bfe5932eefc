// Goes to a thread that a request starts.
import { goToThread } from './address.js';
import { showProblem } from './api.js';
import { replaceChildren } from './dom.js';

/**
 * @param button the control that started it, which says so
 * @param problem the element that says why there is no thread
 * @param request sends the request, and returns its answer
 */
export async function startThread(button, problem, request) {
  const words = button.textContent;
  button.disabled = true;
  replaceChildren(button, 'Starting …');
  try {
    goToThread((await request()).thread);
  } catch (failure) {
    showProblem(problem, failure);
    button.disabled = false;
    replaceChildren(button, words);
    // A control that is disabled loses the focus.
    if (document.activeElement === document.body) button.focus();
  }
}
