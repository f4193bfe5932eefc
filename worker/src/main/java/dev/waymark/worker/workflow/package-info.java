/**
 * The workflow of a thread: a thin driver of the conversation's rules.
 *
 * <p>It must not decide anything about the conversation: what arrives becomes a fact, and what the state asks for is
 * carried out.
 */
@NullMarked
package dev.waymark.worker.workflow;

import org.jspecify.annotations.NullMarked;
