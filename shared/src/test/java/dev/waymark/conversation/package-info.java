/** Tests of the rules. They must not know anything outside. */
@NullMarked
package dev.waymark.conversation;

import org.jspecify.annotations.NullMarked;
