// Drives useChat of the AI SDK against a server:
// node aisdk.mjs URL TOKEN AGENT SCENE [URL to let the model continue [URL of another instance]]
import { useChat } from '@ai-sdk/react';
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
} from 'ai';
import React from 'react';
import renderer from 'react-test-renderer';

const [url, token, agentName, scene, goOn, other] = process.argv.slice(2);
const api = `${url}/v1/ai-sdk/${agentName}`;
const headers = { Authorization: `Bearer ${token}` };
const id = `chat-${process.pid}-${scene}`;
globalThis.IS_REACT_ACT_ENVIRONMENT = true;

// A page with a chat. Its state comes from the latest rendering.
const open = async (options = {}) => {
  const page = { texts: new Set() };
  const Chat = () => {
    Object.assign(page, useChat({
      id,
      transport: new DefaultChatTransport({ api, headers }),
      sendAutomaticallyWhen: (now) =>
        lastAssistantMessageIsCompleteWithApprovalResponses(now) || lastAssistantMessageIsCompleteWithToolCalls(now),
      ...options,
    }));
    const reply = page.messages.at(-1)?.role === 'assistant' ? page.messages.at(-1).parts : [];
    page.texts.add(reply.filter((part) => part.type === 'text').map((part) => part.text).join('|'));
    return null;
  };
  await renderer.act(async () => {
    page.root = renderer.create(React.createElement(Chat));
  });
  page.until = async (holds) => {
    for (let i = 0; i < 600 && !holds(); i++) {
      if (page.status === 'error') throw page.error;
      await renderer.act(() => new Promise((resolve) => setTimeout(resolve, 50)));
    }
    if (!holds()) throw new Error(`still ${page.status}: ${JSON.stringify(page.messages)}`);
  };
  page.idle = () => page.until(() => page.status === 'ready');
  // Does not wait until the reply is complete: the page continues meanwhile.
  page.do = (action) => renderer.act(async () => void action());
  page.close = () => renderer.act(async () => page.root.unmount());
  return page;
};
const tools = (page) => page.messages.flatMap((m) => m.parts).filter((p) => p.type === 'dynamic-tool');
const shown = (page) => page.messages.map((m) => ({ id: m.id, role: m.role, parts: m.parts }));
const saved = async (at = api) => (await (await fetch(`${at}/${id}`, { headers })).json()).messages;
const begin = async (page, text) => {
  const before = page.messages.length;
  await page.do(() => page.sendMessage({ text }));
  await page.until(() => page.messages.length > before && page.status !== 'ready');
};
const say = async (page, text) => {
  await begin(page, text);
  await page.idle();
};

const scenes = {
  async talk() {
    const page = await open();
    await say(page, 'Hello');
    await say(page, 'And again');
    return { messages: shown(page), saved: await saved(), thread: page.messages.at(-1).metadata.waymark.thread };
  },
  async approval(approved, more = {}) {
    const page = await open();
    await say(page, 'Pay');
    const asked = structuredClone(tools(page)[0]);
    const reason = more.args ? JSON.stringify(more) : more.reason;
    await page.do(() => page.addToolApprovalResponse({ id: asked.approval.id, approved, reason }));
    await page.until(() => page.status === 'ready' && tools(page)[0].state.startsWith('output'));
    return { asked, messages: shown(page), saved: await saved() };
  },
  approve: () => scenes.approval(true),
  edit: () => scenes.approval(true, { args: { cents: 4200 } }),
  deny: () => scenes.approval(false, { reason: 'Too dear' }),
  async questions() {
    const page = await open();
    await say(page, 'Book');
    const asked = structuredClone(tools(page));
    const answers = ['Friday', '12A'];
    for (const [n, call] of asked.entries()) {
      await page.do(() => page.addToolOutput({ tool: call.toolName, toolCallId: call.toolCallId, output: answers[n] }));
    }
    await page.until(() => page.status === 'ready' && page.messages.at(-1).parts.some((p) => p.type === 'text'));
    return { asked, messages: shown(page), saved: await saved() };
  },
  // The page is closed while the reply streams, and opened again.
  async reload() {
    const before = await open();
    await begin(before, 'Count');
    await before.until(() => [...before.texts].some((text) => text));
    const cut = [...before.texts].at(-1);
    await before.close();
    const after = await open({ messages: await saved(), resume: true });
    await after.until(() => after.messages.at(-1)?.role === 'assistant');
    await fetch(goOn);
    await after.idle();
    return { cut, messages: shown(after), saved: await saved() };
  },
  // The server instance is killed while the reply streams, and another one continues the chat.
  async takeover() {
    const page = await open();
    await begin(page, 'Count');
    await page.until(() => [...page.texts].some((text) => text));
    await fetch(`${goOn}/kill`);
    await page.until(() => page.status === 'error').catch(() => {});
    const failed = page.status;
    const api = `${other}/v1/ai-sdk/${agentName}`;
    const after = await open({
      messages: await saved(api),
      resume: true,
      transport: new DefaultChatTransport({ api, headers }),
    });
    await after.until(() => after.messages.at(-1)?.role === 'assistant');
    await fetch(goOn);
    await after.idle();
    return { failed, messages: shown(after), saved: await saved(api) };
  },
  async lost() {
    const page = await open();
    await begin(page, 'Count');
    await page.until(() => [...page.texts].some((text) => text));
    await fetch(goOn);
    await page.idle();
    return { messages: shown(page), saved: await saved() };
  },
  // Reconnecting to a chat without a running turn changes nothing.
  async reopen() {
    const page = await open();
    await say(page, 'Hello');
    const again = await open({ messages: await saved(), resume: true });
    await again.idle();
    return { messages: shown(again) };
  },
  // The page runs a tool itself, once or, after a reload, twice.
  async frontEnd(answer = { output: { seat: '12C' } }) {
    const ran = [];
    const onToolCall = ({ toolCall }) => ran.push([toolCall.toolName, toolCall.input]);
    const page = await open({ onToolCall });
    await say(page, 'A seat, please');
    const asked = structuredClone(tools(page)[0]);
    await page.close();
    const after = await open({ onToolCall, messages: await saved() });
    const [part] = tools(after);
    await after.do(() => after.addToolOutput({ tool: part.toolName, toolCallId: part.toolCallId, ...answer }));
    await after.until(() => after.status === 'ready' && after.messages.at(-1).parts.some((p) => p.type === 'text'));
    return { ran, asked, messages: shown(after), saved: await saved() };
  },
  frontEndFails: () => scenes.frontEnd({ state: 'output-error', errorText: 'no plan of this car' }),
  async files() {
    const data = (type, text) => `data:${type};base64,${Buffer.from(text).toString('base64')}`;
    const file = (mediaType, filename, text) => ({ type: 'file', mediaType, filename, url: data(mediaType, text) });
    const page = await open();
    await page.do(() => page.sendMessage({ text: 'Look', files: [file('text/csv', 'a.csv', 'x,y\n1,2\n'), file('image/png', 'p.png', 'PNG')] }));
    await page.until(() => page.messages.length > 1 && page.status === 'ready');
    await page.do(() => page.sendMessage({ text: 'And this', files: [file('image/gif', 'p.gif', 'GIF')] }));
    await page.until(() => page.messages.length > 3 && page.status === 'ready');
    const refused = [];
    for (const bad of [file('application/pdf', 'a.pdf', 'PDF'), file('text/plain', 'a.txt', '\u0000'), { ...file('text/plain', 'a', ''), url: 'https://example.com/a' }, { ...file('text/plain', 'a', ''), url: data('text/plain', '').replace(',', ',*') }]) {
      const other = await open({ id: `${id}-${refused.length}` });
      await other.do(() => other.sendMessage({ text: 'No', files: [bad] }));
      await other.until(() => other.error || other.messages.length > 1).catch(() => {});
      refused.push(other.error?.message ?? 'accepted');
    }
    const { thread } = page.messages.at(-1).metadata.waymark;
    const kept = await saved();
    const again = async (action) => {
      await page.do(action);
      await page.until(() => page.status !== 'ready');
      await page.idle();
      return page.messages.at(-1).metadata.waymark.thread;
    };
    const fork = await again(() => page.regenerate());
    const edited = await again(() => page.sendMessage({ text: 'Instead', files: [file('image/png', 'q.png', 'QNG')], messageId: page.messages[2].id }));
    const begun = await again(() => page.sendMessage({ text: 'At first', files: [file('image/png', 'q.png', 'QNG')], messageId: page.messages[0].id }));
    return { thread, saved: kept, refused, fork, edited, begun };
  },
  async regenerate() {
    const page = await open();
    await say(page, 'Hello');
    await say(page, 'And again');
    const threads = () => [...new Set(page.messages.filter((m) => m.role === 'assistant').map((m) => m.metadata.waymark.thread))];
    const [first] = threads();
    const step = async (action) => {
      await page.do(action);
      await page.until(() => page.status !== 'ready');
      await page.idle();
      return { threads: threads(), messages: shown(page), saved: await saved() };
    };
    const second = await step(() => page.regenerate());
    const third = await step(() => page.sendMessage({ text: 'Instead', messageId: page.messages[2].id }));
    const fourth = await step(() => page.sendMessage({ text: 'Further' }));
    const fifth = await step(() => page.regenerate({ messageId: page.messages[1].id }));
    const reopened = await open({ messages: await saved() });
    await reopened.do(() => reopened.sendMessage({ text: 'From the start', messageId: reopened.messages[0].id }));
    await reopened.until(() => reopened.status !== 'ready');
    await reopened.idle();
    return { first, second, third, fourth, fifth, last: await saved() };
  },
};
console.log(JSON.stringify(await scenes[scene]()));
process.exit(0);
