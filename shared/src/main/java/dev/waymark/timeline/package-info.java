/**
 * The history of a thread, moment by moment. Must not know how histories are read.
 */
@NullMarked
package dev.waymark.timeline;

import org.jspecify.annotations.NullMarked;
