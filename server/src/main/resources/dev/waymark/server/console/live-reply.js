// The partial text of a reply that is not complete yet.

/** Collects partial text. A later attempt of the call or a later call replaces the text. */
export class LiveReply {
  #call = '';
  #attempt = 0;
  #over = false;
  text = '';
  reasoning = '';
  /** The tools that run together with the model call. */
  tools = [];
  /** Whether the beginning of the text is missing. */
  isCut = false;

  /** Adds a `text-delta`. */
  add({ runId, eventId, attempt, from, text }) {
    if (!this.#isCurrent(runId, eventId, attempt, from > 0)) return;
    // JavaScript and the server count characters in the same units.
    this.text = (this.isCut ? this.text : this.text.slice(0, from)) + text;
  }

  /** Adds a `reasoning-delta`. */
  think({ runId, eventId, attempt, from, text }) {
    if (!this.#isCurrent(runId, eventId, attempt, false)) return;
    this.reasoning = this.reasoning.slice(0, from) + text;
  }

  /** Takes a `calls-running`. */
  runs({ runId, eventId, attempt, calls }) {
    if (this.#isCurrent(runId, eventId, attempt, false)) this.tools = calls.map((call) => call.tool);
  }

  #isCurrent(runId, eventId, attempt, isCut) {
    const call = `${runId}/${eventId}`;
    const isAnother = call !== this.#call || attempt > this.#attempt;
    if (!isAnother && attempt < this.#attempt) return false;
    if (isAnother) {
      this.text = '';
      this.reasoning = '';
      this.tools = [];
      this.isCut = isCut;
    }
    this.#call = call;
    this.#attempt = attempt;
    this.#over = false;
    return true;
  }

  /** The model call has ended: the next state of the thread has the complete reply, or none. */
  end() {
    this.#over = true;
  }

  /** The ended call whose text is still shown, if any. */
  get ended() {
    return this.#over ? this.#call : undefined;
  }

  /** Called when the page shows a state that was read after this call ended. */
  shown(call) {
    if (call === undefined || call !== this.#call) return;
    this.text = '';
    this.reasoning = '';
    this.tools = [];
    this.isCut = false;
    this.#over = false;
  }
}
