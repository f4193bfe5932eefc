/**
 * Maps the events of a thread to server-sent events.
 *
 * <p>It must not know how streams are sent.
 */
@NullMarked
package dev.waymark.server.stream;

import org.jspecify.annotations.NullMarked;
