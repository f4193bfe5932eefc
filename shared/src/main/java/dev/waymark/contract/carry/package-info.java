/** States that are too large for one payload, in chunks. */
@NullMarked
package dev.waymark.contract.carry;

import org.jspecify.annotations.NullMarked;
