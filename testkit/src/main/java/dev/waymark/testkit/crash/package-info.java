/**
 * Kills real workers at chosen points of a conversation, and compares what they recorded with the effects that
 * happened.
 *
 * <p>Must not know how a worker is built: this package sees only the worker's calls to its server, and the calls of
 * tools and models.
 */
@NullMarked
package dev.waymark.testkit.crash;

import org.jspecify.annotations.NullMarked;
