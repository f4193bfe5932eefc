/**
 * Asks models what they would reply today at the replies of recorded threads, and compares the replies. Must not run
 * tools, and must not change anything on a server.
 *
 * <p>Begin with {@link Rehearsal}, which goes through the threads; {@link Comparison} compares two replies.
 */
@NullMarked
package dev.waymark.rehearsal;

import org.jspecify.annotations.NullMarked;
