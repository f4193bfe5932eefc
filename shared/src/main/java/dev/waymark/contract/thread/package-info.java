/** The workflow of a thread: how it starts, and what its queries answer. */
@NullMarked
package dev.waymark.contract.thread;

import org.jspecify.annotations.NullMarked;
