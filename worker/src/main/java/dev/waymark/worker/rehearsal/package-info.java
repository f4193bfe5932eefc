/**
 * Asks models, at the decisions of recorded threads, what they would decide today, and compares. Must not run tools, and
 * must not change anything on a server.
 */
@NullMarked
package dev.waymark.worker.rehearsal;

import org.jspecify.annotations.NullMarked;
