/**
 * The calls of a thread: their status, approvals and effects, and the requests that wait for people. Must not know
 * facts, nor the rules.
 */
@NullMarked
package dev.waymark.conversation.call;

import org.jspecify.annotations.NullMarked;
