/** Options and files that several commands share. Must not depend on a particular command. */
@NullMarked
package dev.waymark.starter.options;

import org.jspecify.annotations.NullMarked;
