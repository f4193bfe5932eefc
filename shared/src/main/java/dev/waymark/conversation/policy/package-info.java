/**
 * Rules of an agent's definition: when conversations are summarized, what is announced, and how long requests wait. Must
 * not know the rest of the definition.
 */
@NullMarked
package dev.waymark.conversation.policy;

import org.jspecify.annotations.NullMarked;
