/**
 * Tools that a front end runs. Must not depend on other kinds of tools, nor know any protocol of front ends.
 */
@NullMarked
package dev.waymark.worker.tool.frontend;

import org.jspecify.annotations.NullMarked;
