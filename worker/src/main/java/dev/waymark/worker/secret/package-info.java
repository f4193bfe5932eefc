/**
 * What agents take from the worker's environment, and how it is kept out of whatever comes back. Must not know who is
 * given a secret, nor over what wire.
 */
@NullMarked
package dev.waymark.worker.secret;

import org.jspecify.annotations.NullMarked;
