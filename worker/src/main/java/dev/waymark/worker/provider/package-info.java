/**
 * The model providers of a worker, by name. Must not know when models are called.
 */
@NullMarked
package dev.waymark.worker.provider;

import org.jspecify.annotations.NullMarked;
