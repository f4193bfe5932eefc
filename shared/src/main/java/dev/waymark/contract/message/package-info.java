/** What people, programs, workers and other threads send to a thread by signals and updates, and how it is read. */
@NullMarked
package dev.waymark.contract.message;

import org.jspecify.annotations.NullMarked;
