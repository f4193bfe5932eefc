/** The commands that {@code ./waymark} offers, one class each. Must not know how a run is executed. */
@NullMarked
package dev.waymark.starter.cli;

import org.jspecify.annotations.NullMarked;
