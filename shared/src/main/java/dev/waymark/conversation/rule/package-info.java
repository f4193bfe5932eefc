/**
 * Everything that decides: which facts are admitted, what they change, and what should happen next. Begin with {@link
 * Rules}, the only entry point. A rule is a static function on a draft of the state.
 */
@NullMarked
package dev.waymark.conversation.rule;

import org.jspecify.annotations.NullMarked;
