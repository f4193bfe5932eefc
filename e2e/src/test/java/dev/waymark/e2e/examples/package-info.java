/** The examples of docs/guide, compiled and run. Must not use anything that a user's program could not. */
@NullMarked
package dev.waymark.e2e.examples;

import org.jspecify.annotations.NullMarked;
