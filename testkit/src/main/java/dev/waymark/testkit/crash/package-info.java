/**
 * Kills workers for real, at chosen points of a conversation, and holds what they left behind against what really
 * happened.
 *
 * <p>It must not know how a worker is built: it sees only what a worker says to its server, and what tools and models are
 * asked.
 */
@NullMarked
package dev.waymark.testkit.crash;

import org.jspecify.annotations.NullMarked;
