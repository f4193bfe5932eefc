/**
 * Threads in workflows of other programs: as child workflows, and as Nexus operations. Must not know the rules of a
 * conversation.
 */
@NullMarked
package dev.waymark.workflow;

import org.jspecify.annotations.NullMarked;
