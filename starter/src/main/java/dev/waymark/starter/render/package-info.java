/** How results and failures look: text for people, JSON for programs, exit codes. Must not know any command. */
@NullMarked
package dev.waymark.starter.render;

import org.jspecify.annotations.NullMarked;
