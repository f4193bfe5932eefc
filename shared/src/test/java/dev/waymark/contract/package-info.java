/** Tests of the wire. They must not know a server. */
@NullMarked
package dev.waymark.contract;

import org.jspecify.annotations.NullMarked;
