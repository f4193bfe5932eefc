/**
 * Serves the codec endpoints through which Temporal's Web UI and CLI read encrypted payloads.
 *
 * <p>Must not know threads, nor keep anything that it decodes.
 */
@NullMarked
package dev.waymark.starter.codec;

import org.jspecify.annotations.NullMarked;
