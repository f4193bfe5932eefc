/**
 * Connects the commands of this process to a server.
 *
 * <p>Must not depend on a command.
 */
@NullMarked
package dev.waymark.starter.connection;

import org.jspecify.annotations.NullMarked;
