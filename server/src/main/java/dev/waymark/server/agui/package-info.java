/**
 * The AG-UI protocol, version 1.0: a thread as the agent of a front end.
 *
 * <p>It must not know of other protocols, or keep anything between two requests.
 *
 * <table>
 * <caption>What the protocol says of what happens in a thread</caption>
 * <tr><th>thread</th><th>AG-UI</th></tr>
 * <tr><td>a message, answers or nothing new was accepted</td><td>{@code RUN_STARTED}, {@code STATE_SNAPSHOT}; with nothing new also
 * {@code MESSAGES_SNAPSHOT}</td></tr>
 * <tr><td>words of a reply</td><td>{@code TEXT_MESSAGE_START}, {@code _CONTENT}</td></tr>
 * <tr><td>the attempt that said them was lost</td><td>{@code TEXT_MESSAGE_END}, {@code MESSAGES_SNAPSHOT} without them</td></tr>
 * <tr><td>the model replied</td><td>the words that were still missing, {@code TEXT_MESSAGE_END}, {@code TOOL_CALL_START}, {@code _ARGS},
 * {@code _END} for each call</td></tr>
 * <tr><td>a call has its result</td><td>{@code TOOL_CALL_RESULT}</td></tr>
 * <tr><td>todos, plan or files changed</td><td>{@code STATE_SNAPSHOT}</td></tr>
 * <tr><td>the turn is complete</td><td>{@code RUN_FINISHED}, {@code success}</td></tr>
 * <tr><td>only people are waited for</td><td>{@code RUN_FINISHED}, {@code interrupt}: one for each question, approval and unknown
 * outcome</td></tr>
 * <tr><td>somebody stopped or cancelled it</td><td>{@code RUN_FINISHED}, {@code cancelled}</td></tr>
 * <tr><td>it failed, or met a limit; the thread was reset</td><td>{@code RUN_ERROR}</td></tr>
 * </table>
 *
 * <table>
 * <caption>What a thread is told of what the protocol says</caption>
 * <tr><th>AG-UI</th><th>thread</th></tr>
 * <tr><td>a run whose last message is the user's</td><td>{@code say}, under the message's id; the first one starts the thread</td></tr>
 * <tr><td>{@code resume} of a question</td><td>{@code answer}: the payload, or its {@code answer}</td></tr>
 * <tr><td>{@code resume} of an approval</td><td>{@code approve} or {@code deny}: the payload's {@code approved}, {@code args}, {@code reason};
 * cancelled is denied</td></tr>
 * <tr><td>{@code resume} of an unknown outcome</td><td>{@code settle}: the payload's {@code outcome} and {@code result}</td></tr>
 * <tr><td>any other run</td><td>nothing: the turn is shown</td></tr>
 * </table>
 */
@NullMarked
package dev.waymark.server.agui;

import org.jspecify.annotations.NullMarked;
