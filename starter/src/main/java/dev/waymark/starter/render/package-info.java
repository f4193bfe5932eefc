/**
 * The format of results and failures: text for people, JSON for programs, exit codes. Must not depend on a particular
 * command.
 */
@NullMarked
package dev.waymark.starter.render;

import org.jspecify.annotations.NullMarked;
