/**
 * Keeps one checkpoint document for each thread outside of a Temporal server: in files, in a database, in any store of
 * keys and values.
 *
 * <p>It must not know where a document comes from, nor more of its format than that it names its thread.
 */
@NullMarked
package dev.waymark.saver;

import org.jspecify.annotations.NullMarked;
