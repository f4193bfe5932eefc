/** Tests of the rules, without a workflow or a server. */
@NullMarked
package dev.waymark.conversation.rule;

import org.jspecify.annotations.NullMarked;
