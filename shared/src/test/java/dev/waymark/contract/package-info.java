/** Tests of the wire formats. They must not use a server. */
@NullMarked
package dev.waymark.contract;

import org.jspecify.annotations.NullMarked;
