/**
 * How foreign text is shown to a person: made safe, cut, and compared with known words. Must not know where it is
 * shown.
 */
@NullMarked
package dev.waymark.display;

import org.jspecify.annotations.NullMarked;
