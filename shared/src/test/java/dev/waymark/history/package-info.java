/** Tests of reading histories. They must not know clients or workers. */
@NullMarked
package dev.waymark.history;

import org.jspecify.annotations.NullMarked;
