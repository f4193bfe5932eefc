/**
 * The interface of tool kinds, and what several of them share. Must not depend on a particular kind, nor on who decides
 * about a call.
 */
@NullMarked
package dev.waymark.worker.tool.kind;

import org.jspecify.annotations.NullMarked;
