/** The process that runs agents. Must not know the starter. */
@NullMarked
package dev.waymark.worker;

import org.jspecify.annotations.NullMarked;
