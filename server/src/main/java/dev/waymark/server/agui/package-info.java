/**
 * The AG-UI protocol, version 1.0: serves a thread as the agent of a front end.
 *
 * <p>It must not know other protocols, nor keep state between requests.
 *
 * <table>
 * <caption>AG-UI events for each change of a thread</caption>
 * <tr><th>Thread</th><th>AG-UI</th></tr>
 * <tr><td>the run starts</td><td>{@code RUN_STARTED}, {@code STATE_SNAPSHOT}; without new input also
 * {@code MESSAGES_SNAPSHOT}</td></tr>
 * <tr><td>reasoning that the model shows</td><td>{@code REASONING_START}, {@code REASONING_MESSAGE_START},
 * {@code REASONING_MESSAGE_CONTENT}; with the reply {@code REASONING_MESSAGE_END}, {@code REASONING_END}</td></tr>
 * <tr><td>partial text of a reply</td><td>{@code TEXT_MESSAGE_START}, {@code TEXT_MESSAGE_CONTENT}</td></tr>
 * <tr><td>the attempt that sent this text was lost, or the turn ended in the middle of it</td><td>{@code TEXT_MESSAGE_END}, {@code MESSAGES_SNAPSHOT} without
 * the text</td></tr>
 * <tr><td>the model replied</td><td>the rest of the text, {@code TEXT_MESSAGE_END}; {@code TOOL_CALL_START},
 * {@code TOOL_CALL_ARGS} and {@code TOOL_CALL_END} for each call</td></tr>
 * <tr><td>a call has its result</td><td>{@code TOOL_CALL_RESULT}</td></tr>
 * <tr><td>todos, plan or files changed</td><td>{@code STATE_SNAPSHOT}</td></tr>
 * <tr><td>the turn is complete</td><td>{@code RUN_FINISHED}, {@code success}</td></tr>
 * <tr><td>the turn waits for people only</td><td>{@code RUN_FINISHED}, {@code interrupt}: one for each question,
 * approval and unknown outcome</td></tr>
 * <tr><td>the turn was stopped or cancelled</td><td>{@code RUN_FINISHED}, {@code cancelled}; without an outcome for a
 * client that states no version of the protocol</td></tr>
 * <tr><td>the turn failed or reached a limit; the thread was reset or ended</td><td>{@code RUN_ERROR}</td></tr>
 * </table>
 *
 * <table>
 * <caption>Thread commands for each AG-UI request</caption>
 * <tr><th>AG-UI</th><th>Thread</th></tr>
 * <tr><td>a run whose last message is from the user</td><td>{@code say}, with the message's id as the key; the first
 * message starts the thread</td></tr>
 * <tr><td>{@code resume} of a question</td><td>{@code answer}: the payload, or its {@code answer}</td></tr>
 * <tr><td>{@code resume} of an approval</td><td>{@code approve} or {@code deny}: the payload's {@code approved},
 * {@code args} and {@code reason}; {@code cancelled} denies</td></tr>
 * <tr><td>{@code resume} of an unknown outcome</td><td>{@code settle}: the payload's {@code outcome},
 * {@code result} and {@code note}; {@code cancelled} gives up</td></tr>
 * <tr><td>several entries in {@code resume}</td><td>one message each, all of which are checked before the first is
 * sent</td></tr>
 * <tr><td>any other run</td><td>no command: streams the current turn</td></tr>
 * </table>
 */
@NullMarked
package dev.waymark.server.agui;

import org.jspecify.annotations.NullMarked;
