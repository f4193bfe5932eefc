/** The command that exports traces. Must not know how spans are created. */
@NullMarked
package dev.waymark.starter.trace;

import org.jspecify.annotations.NullMarked;
