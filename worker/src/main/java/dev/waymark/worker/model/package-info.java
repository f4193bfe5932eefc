/**
 * Calls models: the {@code model} activity, and what is checked before. Must not depend on a wire format or on how tools
 * run.
 */
@NullMarked
package dev.waymark.worker.model;

import org.jspecify.annotations.NullMarked;
