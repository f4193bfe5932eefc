/**
 * The interface of Java tools: a tool from a record and a lambda, the context of a call, questions to people; and the
 * validation of arguments for all tools. Must not know Temporal, nor what runs a tool.
 */
@NullMarked
package dev.waymark.tool;

import org.jspecify.annotations.NullMarked;
