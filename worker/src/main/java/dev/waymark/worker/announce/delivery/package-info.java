/**
 * Tells receivers of requests that wait for people and of what has ended. Only this package knows their addresses and
 * secrets. Must not know who decides what is announced.
 */
@NullMarked
package dev.waymark.worker.announce.delivery;

import org.jspecify.annotations.NullMarked;
