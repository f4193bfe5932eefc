/**
 * Records in a directory which claimed calls this process executes, so that the next process on this host can report
 * them if this one is killed. Must not know what the calls are, or what their end means.
 */
@NullMarked
package dev.waymark.worker.journal;

import org.jspecify.annotations.NullMarked;
