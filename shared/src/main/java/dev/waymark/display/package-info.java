/**
 * Prepares foreign text for display to a person: makes it safe, cuts it, and compares it with known words. Must not
 * know where the text is shown.
 */
@NullMarked
package dev.waymark.display;

import org.jspecify.annotations.NullMarked;
