// A page with a chat on useChat of the AI SDK.
import { useChat } from '@ai-sdk/react';
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
} from 'ai';
import React from 'react';
import { createRoot } from 'react-dom/client';
import { Approval, Question, Talk, asked, headers, running, sleep, stopTurn } from './controls.mjs';

const h = React.createElement;
const api = `${asked.url}/v1/ai-sdk/${asked.agent}`;

/** The messages so far, without the replies of a turn that is running. */
const saved = async () => {
  for (;;) {
    const response = await fetch(`${api}/${asked.thread}`, { headers }).catch(() => undefined);
    if (response?.ok) return (await response.json()).messages;
    await sleep(500);
  }
};

const Chat = ({ messages: initial }) => {
  const chat = useChat({
    id: asked.thread,
    messages: initial,
    transport: new DefaultChatTransport({ api, headers }),
    sendAutomaticallyWhen: (now) =>
      lastAssistantMessageIsCompleteWithApprovalResponses(now) || lastAssistantMessageIsCompleteWithToolCalls(now),
  });
  const { status, messages } = chat;
  React.useEffect(() => {
    document.documentElement.dataset.thread = messages.at(-1)?.metadata?.waymark?.thread ?? '';
  }, [messages]);
  React.useEffect(() => running(status === 'submitted' || status === 'streaming'), [status]);
  /** Follows the running turn. If it has ended since the messages were read, there is no stream, and they have it. */
  const follow = async () => {
    await chat.resumeStream();
    chat.setMessages(await saved());
  };
  React.useEffect(() => {
    if ('again' in asked) follow();
  }, []);
  React.useEffect(() => {
    // The server instance is gone. Continues with the next one.
    if (status === 'error') {
      saved().then((before) => {
        chat.setMessages(before);
        chat.clearError();
        return follow();
      });
    }
  }, [status]);
  const part = (each, key) => {
    if (each.type === 'text' && !each.providerMetadata?.waymark?.discarded) return h('p', { key }, each.text);
    if (each.type !== 'dynamic-tool') return null;
    if (each.state === 'approval-requested') {
      const { id } = each.approval;
      return h(Approval, {
        key,
        call: each.toolCallId,
        decide: ({ approved, args, reason }) =>
          chat.addToolApprovalResponse({ id, approved, reason: args ? JSON.stringify({ args, reason }) : reason }),
      });
    }
    return each.state === 'input-available' && !each.providerExecuted
      ? h(Question, {
          key,
          question: each.input.question,
          answer: (output) => chat.addToolOutput({ tool: each.toolName, toolCallId: each.toolCallId, output }),
        })
      : null;
  };
  return h('main', null,
    messages.flatMap((message) => message.parts.map((each, n) => part(each, `${message.id}-${n}`))),
    h(Talk, {
      say: (text) => chat.sendMessage({ text }),
      stop: () => stopTurn(messages.at(-1).metadata.waymark.thread),
    }));
};

const messages = 'again' in asked ? await saved() : [];
createRoot(document.getElementById('root')).render(h(Chat, { messages }));
