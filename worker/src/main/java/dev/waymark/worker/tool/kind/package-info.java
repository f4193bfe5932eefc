/**
 * The interface of tool kinds, and code that several of them share. Must not depend on a particular kind or on who
 * decides about a call.
 */
@NullMarked
package dev.waymark.worker.tool.kind;

import org.jspecify.annotations.NullMarked;
