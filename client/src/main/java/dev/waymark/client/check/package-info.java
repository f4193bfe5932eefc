/**
 * Checks requests before they are sent, with the rules of the workflow. Must not know how requests are sent.
 */
@NullMarked
package dev.waymark.client.check;

import org.jspecify.annotations.NullMarked;
