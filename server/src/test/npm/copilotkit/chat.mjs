// A page with the chat of CopilotKit, which talks to the AG-UI door itself: no other server is in between.
// Its address has the server, the token, the agent and the thread: page.html?url=…&token=…&agent=…&thread=…
import React from 'react';
import { createRoot } from 'react-dom/client';
import { CopilotChat, CopilotKitProvider, HttpAgent, useInterrupt } from '@copilotkit/react-core/v2';

const asked = new URLSearchParams(location.search);
const h = React.createElement;

/** After a reload, a run without a message brings the conversation back and follows the turn that is running. */
class ThreadAgent extends HttpAgent {
  connect(input) {
    return this.run({ ...input, messages: [] });
  }
}

/** In a new chat there is nothing to bring back. */
const Agent = asked.has('again') ? ThreadAgent : HttpAgent;
const agent = new Agent({
  url: `${asked.get('url')}/v1/agui/${asked.get('agent')}`,
  headers: { Authorization: `Bearer ${asked.get('token')}` },
  threadId: asked.get('thread'),
});

const Approvals = () => {
  useInterrupt({
    agentId: 'default',
    render: ({ interrupt, resolve }) =>
      h('div', { className: 'interrupt' },
        h('p', null, interrupt?.message),
        h('button', { onClick: () => resolve({ approved: true }) }, 'Approve'),
        h('button', { onClick: () => resolve({ approved: false, reason: 'Too dear' }) }, 'Deny')),
  });
  return null;
};

createRoot(document.getElementById('root')).render(
  h(CopilotKitProvider, { selfManagedAgents: { default: agent }, showDevConsole: false },
    h(Approvals),
    h(CopilotChat, { agentId: 'default', threadId: asked.get('thread') })));
