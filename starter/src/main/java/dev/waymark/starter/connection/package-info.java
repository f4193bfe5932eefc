/**
 * The server that the commands of this process use.
 *
 * <p>It must not know any command.
 */
@NullMarked
package dev.waymark.starter.connection;

import org.jspecify.annotations.NullMarked;
