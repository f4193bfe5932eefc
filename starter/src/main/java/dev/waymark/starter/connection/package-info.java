/**
 * The server that the commands of this process use.
 *
 * <p>Must not depend on a command.
 */
@NullMarked
package dev.waymark.starter.connection;

import org.jspecify.annotations.NullMarked;
