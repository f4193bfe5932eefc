/** The activities and child workflows of a thread: what each begins, what it is given, and which fact its result or failure becomes. */
@NullMarked
package dev.waymark.contract.work;

import org.jspecify.annotations.NullMarked;
