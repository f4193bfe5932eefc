// The words of a reply that is not complete yet.

/** Collects partial text. A later attempt of the same call, and a later call, replace the text. */
export class LiveReply {
  #call = '';
  #attempt = 0;
  #over = false;
  text = '';
  /** Whether the beginning is missing. */
  isCut = false;

  /** Adds a `text-delta`. */
  add({ runId, eventId, attempt, from, text }) {
    const call = `${runId}/${eventId}`;
    if (call !== this.#call || attempt > this.#attempt) {
      this.text = '';
      this.isCut = from > 0;
    } else if (attempt < this.#attempt) {
      return;
    }
    this.#call = call;
    this.#attempt = attempt;
    this.#over = false;
    // Counted in the units in which JavaScript and the server both count.
    this.text = (this.isCut ? this.text : this.text.slice(0, from)) + text;
  }

  /** The model call ended: the next state of the thread has the whole reply, or none. */
  end() {
    this.#over = true;
  }

  /** The call that has ended, whose words are still shown. */
  get ended() {
    return this.#over ? this.#call : undefined;
  }

  /** A state of the thread is shown that was read after this call had ended. */
  shown(call) {
    if (call === undefined || call !== this.#call) return;
    this.text = '';
    this.isCut = false;
    this.#over = false;
  }
}
