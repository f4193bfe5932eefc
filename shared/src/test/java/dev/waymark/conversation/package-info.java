/** Tests of the rules, without a workflow or a server. */
@NullMarked
package dev.waymark.conversation;

import org.jspecify.annotations.NullMarked;
