/**
 * Code that HTTP providers share: addresses and keys, requests answered with a stream of events, and the classification
 * of failures. Must not depend on a provider's wire format or on Temporal.
 */
@NullMarked
package dev.waymark.worker.model.http;

import org.jspecify.annotations.NullMarked;
