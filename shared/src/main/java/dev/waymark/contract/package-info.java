/**
 * The Temporal surface of a thread: every name and every payload that goes over the wire.
 *
 * <p>Names here are stored in histories and used by other programs: they are added to and never changed. It must not
 * know how history is read.
 */
@NullMarked
package dev.waymark.contract;

import org.jspecify.annotations.NullMarked;
