/**
 * The activities that run and verify tools, and their protocol: claims, and what becomes of an execution that must not
 * start. Must not know models.
 */
@NullMarked
package dev.waymark.worker.tool;

import org.jspecify.annotations.NullMarked;
