/**
 * Storage of the keys of single threads, outside of histories.
 *
 * <p>Must not know what is encrypted with them, nor the master keys that wrap them.
 */
@NullMarked
package dev.waymark.keystore;

import org.jspecify.annotations.NullMarked;
