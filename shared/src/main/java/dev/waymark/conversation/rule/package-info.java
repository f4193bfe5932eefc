/**
 * Everything that decides: which facts are admitted, what they change, and what should happen next. {@link
 * dev.waymark.conversation.rule.Rules} is the only way in. A rule is a static function on a draft of the state.
 */
@NullMarked
package dev.waymark.conversation.rule;

import org.jspecify.annotations.NullMarked;
