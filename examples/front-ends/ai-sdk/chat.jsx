// A chat with the agent "host", with useChat of the AI SDK.
import { useChat } from '@ai-sdk/react';
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses, lastAssistantMessageIsCompleteWithToolCalls } from 'ai';
import { useState } from 'react';
import { createRoot } from 'react-dom/client';

const root = createRoot(document.getElementById('page'));

/** The server's address, the token and the conversation, which survive a reload. */
function Settings({ onGiven }) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onGiven({ ...Object.fromEntries(new FormData(event.target)), id: crypto.randomUUID() });
      }}
    >
      <strong>Your server</strong>
      <label>Address <input name="server" defaultValue="http://127.0.0.1:8091" /></label>
      <label>Token <input name="token" /></label>
      <button>Connect</button>
    </form>
  );
}

function Chat({ server, token, id, saved }) {
  const chat = useChat({
    id,
    messages: saved,
    resume: saved.length > 0,
    transport: new DefaultChatTransport({ api: `${server}/v1/ai-sdk/host`, headers: { Authorization: `Bearer ${token}` } }),
    sendAutomaticallyWhen: (now) =>
      lastAssistantMessageIsCompleteWithApprovalResponses(now) || lastAssistantMessageIsCompleteWithToolCalls(now),
  });
  const isIdle = chat.status === 'ready' || chat.status === 'error';
  return (
    <>
      <h1>Table for four</h1>
      <div role="log" aria-label="Conversation">
        {chat.messages.map((message) => (
          <div key={message.id}>
            {message.parts.map((part, i) => (
              <Part key={part.toolCallId ?? i} part={part} role={message.role} chat={chat} />
            ))}
          </div>
        ))}
      </div>
      {chat.error ? <p className="problem" role="alert">{chat.error.message}</p> : null}
      <Composer
        isIdle={isIdle}
        onSend={(text, files) => chat.sendMessage({ text, files })}
        onRegenerate={chat.messages.at(-1)?.role === 'assistant' ? () => chat.regenerate() : undefined}
      />
    </>
  );
}

function Part({ part, role, chat }) {
  if (part.type === 'text' && !part.providerMetadata?.waymark?.discarded) return <p className={role}>{part.text}</p>;
  if (part.type === 'file') return <p className={role}>{part.filename ?? part.mediaType}</p>;
  if (part.type === 'data-workspace') {
    return <ul aria-label="To-dos">{part.data.todos.map((todo) => <li key={todo.id}>{todo.content}: {todo.status}</li>)}</ul>;
  }
  if (part.type !== 'dynamic-tool') return null;
  if (part.state === 'approval-requested') {
    return <Approval part={part} onDecided={(decision) => chat.addToolApprovalResponse({ id: part.approval.id, ...decision })} />;
  }
  if (part.state === 'input-available' && !part.providerExecuted) {
    const Tool = TOOLS[part.toolName] ?? Question;
    return <Tool input={part.input} onDone={(answer) => chat.addToolOutput({ tool: part.toolName, toolCallId: part.toolCallId, ...answer })} />;
  }
  return null;
}

/** The tools that this page runs for the agent. The agent's file declares them with `front_end: true`. */
const TOOLS = {
  pick_table: ({ input, onDone }) => (
    <fieldset>
      <strong>Which table for {input.guests}?</strong>
      <div className="row">
        {[3, 5, 8].map((table) => <button key={table} onClick={() => onDone({ output: { table } })}>Table {table}</button>)}
        <button onClick={() => onDone({ state: 'output-error', errorText: 'the user wants none of the free tables' })}>None</button>
      </div>
    </fieldset>
  ),
};

function Question({ input, onDone }) {
  const [text, setText] = useState('');
  return (
    <fieldset>
      <label>{input.question} <input value={text} onChange={(event) => setText(event.target.value)} /></label>
      <button onClick={() => onDone({ output: text })}>Answer</button>
    </fieldset>
  );
}

function Approval({ part, onDecided }) {
  const shown = JSON.stringify(part.input);
  const [args, setArgs] = useState(shown);
  const [reason, setReason] = useState('');
  const approve = () => {
    const edit = args === shown ? {} : { args: JSON.parse(args) };
    const words = reason === '' ? {} : { reason };
    // Changed arguments are sent in the reason.
    onDecided({ approved: true, reason: args === shown ? reason || undefined : JSON.stringify({ ...edit, ...words }) });
  };
  return (
    <fieldset>
      <strong>May {part.toolName} run?</strong>
      <textarea aria-label="Arguments" rows="3" value={args} onChange={(event) => setArgs(event.target.value)} />
      <label>Reason <input value={reason} onChange={(event) => setReason(event.target.value)} /></label>
      <div className="row">
        <button onClick={approve}>Approve</button>
        <button onClick={() => onDecided({ approved: false, reason: reason || undefined })}>Deny</button>
      </div>
    </fieldset>
  );
}

function Composer({ isIdle, onSend, onRegenerate }) {
  const [text, setText] = useState('');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() === '' || !isIdle) return;
        const { files } = event.target.elements.files;
        onSend(text, files.length > 0 ? files : undefined);
        setText('');
        event.target.elements.files.value = '';
      }}
    >
      <textarea aria-label="Message" rows="2" value={text} onChange={(event) => setText(event.target.value)} />
      <label>Files <input type="file" name="files" multiple accept="text/*,image/*" /></label>
      <div className="row">
        <button disabled={!isIdle}>Send</button>
        {onRegenerate ? <button type="button" disabled={!isIdle} onClick={onRegenerate}>Answer again</button> : null}
      </div>
    </form>
  );
}

/** Reads the conversation and its open requests, to show them after a reload. */
async function begin(settings) {
  sessionStorage.setItem('settings', JSON.stringify(settings));
  const { server, token, id } = settings;
  const response = await fetch(`${server}/v1/ai-sdk/host/${id}`, { headers: { Authorization: `Bearer ${token}` } });
  const saved = response.ok ? (await response.json()).messages : [];
  root.render(<Chat {...settings} saved={saved} />);
}

const kept = sessionStorage.getItem('settings');
if (kept) begin(JSON.parse(kept));
else root.render(<Settings onGiven={begin} />);
