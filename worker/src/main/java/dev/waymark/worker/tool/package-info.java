/**
 * The activities that run and verify tools, and their protocol: claims, and executions that must not start. Must not
 * depend on models.
 */
@NullMarked
package dev.waymark.worker.tool;

import org.jspecify.annotations.NullMarked;
