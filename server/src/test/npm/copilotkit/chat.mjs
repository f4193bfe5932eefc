// A page with the chat of CopilotKit, which uses the AG-UI endpoint directly, without another server in between.
import React from 'react';
import { createRoot } from 'react-dom/client';
import { CopilotChat, CopilotKitProvider, HttpAgent, useCopilotKit, useInterrupt } from '@copilotkit/react-core/v2';
import { Approval, Question, asked, headers, running, sleep, stopTurn } from './controls.mjs';

const h = React.createElement;
let thread;

class ThreadAgent extends HttpAgent {
  /** A run without a message restores the conversation, and follows the turn. */
  connect(input) {
    return this.run({ ...input, messages: [] });
  }

  /** The button that stops a reply. */
  abortRun() {
    if (thread) stopTurn(thread);
    else super.abortRun();
  }
}

const agent = new ThreadAgent({
  url: `${asked.url}/v1/agui/${asked.agent}`, headers, threadId: asked.thread,
});

const Interrupts = () => {
  const { copilotkit } = useCopilotKit();
  React.useEffect(() => {
    const { unsubscribe } = agent.subscribe({
      onRunInitialized: () => running(true),
      onRunStartedEvent: ({ event }) => {
        thread = event.metadata.waymark.thread;
      },
      onRunFinalized: () => running(false),
      // The server instance is gone. Follows the turn on the next one. The run is over only after this.
      onRunFailed: () => {
        agent.pendingInterrupts = [];
        if (thread) sleep(500).then(() => copilotkit.connectAgent({ agent }));
      },
    });
    return unsubscribe;
  }, [copilotkit]);
  useInterrupt({
    agentId: 'default',
    render: ({ interrupts, resolve }) =>
      h('div', null, interrupts.map(({ id, reason, message, toolCallId }) =>
        reason === 'approval'
          ? h(Approval, { key: id, call: toolCallId, decide: (payload) => resolve(payload, id) })
          : h(Question, { key: id, question: message, answer: (answer) => resolve({ answer }, id) }))),
  });
  return null;
};

createRoot(document.getElementById('root')).render(
  h(CopilotKitProvider, { selfManagedAgents: { default: agent }, showDevConsole: false },
    h(Interrupts),
    h(CopilotChat, { agentId: 'default', threadId: asked.thread })));
