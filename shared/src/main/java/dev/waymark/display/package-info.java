/**
 * How text from models, tools, files and other people is shown to a person: made safe, cut, and compared with what may
 * have been meant. Must not know where it is shown.
 */
@NullMarked
package dev.waymark.display;

import org.jspecify.annotations.NullMarked;
