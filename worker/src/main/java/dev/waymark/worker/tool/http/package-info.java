/**
 * Tools that are requests over HTTP: how one is made of its arguments, where it may go, and what its answer means. Must
 * not know Temporal, nor why and whether a call may run.
 */
@NullMarked
package dev.waymark.worker.tool.http;

import org.jspecify.annotations.NullMarked;
