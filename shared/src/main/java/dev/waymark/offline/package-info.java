/**
 * Reads threads from files, without a server. Must not know how threads run.
 */
@NullMarked
package dev.waymark.offline;

import org.jspecify.annotations.NullMarked;
