/**
 * The workflow of a thread: a thin driver of the conversation's rules.
 *
 * <p>Must not decide anything about the conversation: what arrives becomes a fact, and what the state asks for is
 * executed.
 */
@NullMarked
package dev.waymark.worker.workflow;

import org.jspecify.annotations.NullMarked;
