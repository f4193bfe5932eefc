/**
 * Requests that wait for people, and what people decide about calls. Must not know calls, facts, nor the rules.
 */
@NullMarked
package dev.waymark.conversation.decision;

import org.jspecify.annotations.NullMarked;
