/**
 * The messages that people, programs, workers and other threads send to a thread by signals and updates, and how they
 * are read. Must not know the state of the thread.
 */
@NullMarked
package dev.waymark.contract.message;

import org.jspecify.annotations.NullMarked;
