/**
 * The workflow of a thread: a thin driver of the conversation's rules.
 *
 * <p>Must not decide anything about the conversation: it turns everything that arrives into facts, and executes the
 * steps that the state decides.
 */
@NullMarked
package dev.waymark.worker.workflow;

import org.jspecify.annotations.NullMarked;
