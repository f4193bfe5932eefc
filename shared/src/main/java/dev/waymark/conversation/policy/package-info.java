/**
 * The parts of an agent's definition that the rules need. Must not know the rest of the definition, nor how tools run.
 */
@NullMarked
package dev.waymark.conversation.policy;

import org.jspecify.annotations.NullMarked;
