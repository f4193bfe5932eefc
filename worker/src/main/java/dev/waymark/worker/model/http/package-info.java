/**
 * What providers over HTTP have in common: where they are, a request whose reply comes as a stream of events, and what
 * becomes of everything that can go wrong on the way. Must not know any provider's wire, nor Temporal.
 */
@NullMarked
package dev.waymark.worker.model.http;

import org.jspecify.annotations.NullMarked;
