/** What the rules need to know of an agent's definition. */
@NullMarked
package dev.waymark.conversation.policy;

import org.jspecify.annotations.NullMarked;
