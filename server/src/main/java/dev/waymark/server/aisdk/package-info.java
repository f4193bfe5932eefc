/**
 * The UI message stream of the AI SDK, version 1: serves a thread as the chat of {@code useChat}.
 *
 * <p>It must not know other protocols, nor keep state between requests.
 *
 * <table>
 * <caption>Chunks for each change of a thread</caption>
 * <tr><th>Thread</th><th>AI SDK</th></tr>
 * <tr><td>the run starts</td><td>{@code start}, with the thread id in its metadata and, unless the turn already had a
 * reply, the id of the message</td></tr>
 * <tr><td>a model reply begins</td><td>{@code finish-step} of the earlier reply, {@code start-step}</td></tr>
 * <tr><td>reasoning that the model shows</td><td>{@code reasoning-start}, {@code reasoning-delta}</td></tr>
 * <tr><td>partial text of a reply</td><td>{@code text-start}, {@code text-delta}</td></tr>
 * <tr><td>the attempt that sent this text was lost, or the turn ended in the middle of it</td><td>{@code text-end} with {@code discarded} in the metadata of
 * the text: the protocol can't remove a part; a repeated stream does not contain this text</td></tr>
 * <tr><td>the model replied</td><td>the rest of the text, {@code text-end}; {@code tool-input-available} for each call,
 * as a dynamic tool and, unless the call is a question, as executed by the provider</td></tr>
 * <tr><td>a call waits for approval</td><td>{@code tool-approval-request}, unless the request has it already</td></tr>
 * <tr><td>a call of a subagent waits for a person</td><td>{@code data-waiting}</td></tr>
 * <tr><td>the outcome of a call is unknown</td><td>{@code data-unknown}, whose id is the call's key in
 * {@code settlements}</td></tr>
 * <tr><td>a call has its result</td><td>{@code tool-output-available}, {@code tool-output-error} or
 * {@code tool-output-denied}, as executed by the provider</td></tr>
 * <tr><td>a call was approved</td><td>{@code tool-input-available} with the arguments to run with</td></tr>
 * <tr><td>todos, plan or files changed</td><td>{@code data-workspace}</td></tr>
 * <tr><td>the turn is complete</td><td>{@code finish-step}, {@code finish}: {@code stop}</td></tr>
 * <tr><td>the turn waits for people only</td><td>{@code finish}: {@code tool-calls}</td></tr>
 * <tr><td>the turn was stopped or cancelled</td><td>{@code abort}</td></tr>
 * <tr><td>the turn failed or reached a limit; the thread was reset or ended</td><td>{@code error}</td></tr>
 * </table>
 *
 * <table>
 * <caption>Thread commands for each request</caption>
 * <tr><th>AI SDK</th><th>Thread</th></tr>
 * <tr><td>the last message is from the user</td><td>{@code say}, with the message's id as the key; the first message
 * starts the thread</td></tr>
 * <tr><td>an approval response in the last message</td><td>{@code approve} or {@code deny}, with the arguments in
 * its reason, if any: see {@code ApprovalResponse}</td></tr>
 * <tr><td>the output of a question in the last message</td><td>{@code answer}</td></tr>
 * <tr><td>{@code settlements} in the body</td><td>{@code settle}</td></tr>
 * <tr><td>any other submission</td><td>no command: streams what happened since the calls in the last message were
 * decided; if none of them waited for a person, the newest turn</td></tr>
 * <tr><td>reconnection</td><td>no command: repeats the turn that is running</td></tr>
 * </table>
 */
@NullMarked
package dev.waymark.server.aisdk;

import org.jspecify.annotations.NullMarked;
