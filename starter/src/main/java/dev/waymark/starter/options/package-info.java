/** Options and files that several commands share. Must not know any command. */
@NullMarked
package dev.waymark.starter.options;

import org.jspecify.annotations.NullMarked;
