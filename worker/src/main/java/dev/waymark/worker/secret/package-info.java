/**
 * Secrets that agents take from the worker's environment, and their removal from output. Must not know who receives a
 * secret or how it is sent.
 */
@NullMarked
package dev.waymark.worker.secret;

import org.jspecify.annotations.NullMarked;
