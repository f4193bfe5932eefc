/**
 * Tells receivers of requests that wait for people and of what has ended: webhooks, chats and programs. Only this
 * package knows their addresses and secrets.
 */
@NullMarked
package dev.waymark.worker.announce;

import org.jspecify.annotations.NullMarked;
