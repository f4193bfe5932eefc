/** What can happen to a thread. The state is the fold of these facts. */
@NullMarked
package dev.waymark.conversation.fact;

import org.jspecify.annotations.NullMarked;
