/**
 * Compression and encryption of payloads before they leave a process, and the storage of the keys of single threads
 * outside of histories.
 *
 * <p>Must not know conversations, nor the meaning of payloads.
 */
@NullMarked
package dev.waymark.codec;

import org.jspecify.annotations.NullMarked;
