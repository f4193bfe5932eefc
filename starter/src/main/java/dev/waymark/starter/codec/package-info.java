/**
 * Serves the codec endpoints by which Temporal's Web UI and CLI read encrypted payloads.
 *
 * <p>It must not know threads, or keep anything that it decodes.
 */
@NullMarked
package dev.waymark.starter.codec;

import org.jspecify.annotations.NullMarked;
