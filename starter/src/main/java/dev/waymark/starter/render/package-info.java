/**
 * Formats results and failures as text for people and JSON for programs, and assigns exit codes. Must not depend on a
 * particular command.
 */
@NullMarked
package dev.waymark.starter.render;

import org.jspecify.annotations.NullMarked;
