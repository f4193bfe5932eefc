/**
 * Compression and encryption of payloads before they leave a process.
 *
 * <p>It must not know conversations, or what payloads mean.
 */
@NullMarked
package dev.waymark.codec;

import org.jspecify.annotations.NullMarked;
