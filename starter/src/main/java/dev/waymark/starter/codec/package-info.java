/**
 * Serves the codec endpoints through which Temporal's Web UI and CLI read encrypted payloads.
 *
 * <p>Must not read threads or store anything that it decodes.
 */
@NullMarked
package dev.waymark.starter.codec;

import org.jspecify.annotations.NullMarked;
