/** Tests of reading histories. */
@NullMarked
package dev.waymark.history;

import org.jspecify.annotations.NullMarked;
