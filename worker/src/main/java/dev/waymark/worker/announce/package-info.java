/**
 * The receivers of announcements: webhooks, chats and programs. Must not know how they are told.
 */
@NullMarked
package dev.waymark.worker.announce;

import org.jspecify.annotations.NullMarked;
