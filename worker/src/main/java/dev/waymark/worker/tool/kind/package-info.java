/**
 * What a kind of tool is: the interface that each implements, and what several of them need. Must not know any single kind,
 * nor who decided on a call.
 */
@NullMarked
package dev.waymark.worker.tool.kind;

import org.jspecify.annotations.NullMarked;
