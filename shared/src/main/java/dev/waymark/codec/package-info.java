/**
 * Compression and encryption of payloads before they leave a process.
 *
 * <p>Must not know conversations, nor the meaning of payloads.
 */
@NullMarked
package dev.waymark.codec;

import org.jspecify.annotations.NullMarked;
