/** The calls of a thread: their life, their approvals, their effects, and what waits for a person. */
@NullMarked
package dev.waymark.conversation.call;

import org.jspecify.annotations.NullMarked;
