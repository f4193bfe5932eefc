/**
 * What is known of a thread without its conversation: its owner, its status, and what it was forked from. Must not know how
 * it is read.
 */
@NullMarked
package dev.waymark.thread;

import org.jspecify.annotations.NullMarked;
