/**
 * The Temporal interface of a thread: every name and payload on the wire, and the chunks in which a large state travels
 * to the next run.
 *
 * <p>The names are stored in histories and used by other programs: new ones are added, existing ones never change. Must
 * not know how history is read.
 */
@NullMarked
package dev.waymark.contract;

import org.jspecify.annotations.NullMarked;
