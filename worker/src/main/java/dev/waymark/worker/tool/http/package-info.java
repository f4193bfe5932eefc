/**
 * Tools that are HTTP requests: how a request is built, where it may go, and what its answer means. Must not depend on
 * Temporal or on whether a call may run.
 */
@NullMarked
package dev.waymark.worker.tool.http;

import org.jspecify.annotations.NullMarked;
