/** Asking models: the {@code model} activity, and which providers there are. Must not know any wire, nor how a tool runs. */
@NullMarked
package dev.waymark.worker.model;

import org.jspecify.annotations.NullMarked;
