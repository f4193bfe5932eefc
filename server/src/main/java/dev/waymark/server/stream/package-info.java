/**
 * Everything that a thread's watchers are told, as server-sent events.
 *
 * <p>It must not know how streams are sent.
 */
@NullMarked
package dev.waymark.server.stream;

import org.jspecify.annotations.NullMarked;
