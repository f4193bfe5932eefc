/**
 * The activities that run and verify tools, and their protocol with the workflow: claims, and outcomes that arrive
 * late. Must not depend on models.
 */
@NullMarked
package dev.waymark.worker.tool;

import org.jspecify.annotations.NullMarked;
