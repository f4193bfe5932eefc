/**
 * Stores a checkpoint document for each thread outside of a Temporal server: in files, in a database, or in any
 * key-value store.
 *
 * <p>Must not know where a document comes from, nor anything about its format except that it names its thread.
 */
@NullMarked
package dev.waymark.saver;

import org.jspecify.annotations.NullMarked;
