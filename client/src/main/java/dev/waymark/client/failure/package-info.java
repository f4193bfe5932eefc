/** Failed requests: what is wrong, and what the caller can do about it. Must not know how a request is sent. */
@NullMarked
package dev.waymark.client.failure;

import org.jspecify.annotations.NullMarked;
