/** Schedules that start threads at certain times. Must not know how they are stored, nor how a thread is started. */
@NullMarked
package dev.waymark.client.schedule;

import org.jspecify.annotations.NullMarked;
