/** What grows with the length of a thread's life. */
@NullMarked
package dev.waymark.bench.endurance;

import org.jspecify.annotations.NullMarked;
