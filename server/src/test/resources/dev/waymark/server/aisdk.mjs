// Drives useChat of the AI SDK against a server:
// node aisdk.mjs URL TOKEN AGENT SCENE [URL to let the model go on [URL of another instance]]
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

// A page with a chat. Its state is that of the latest rendering.
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
  async regenerate() {
    const page = await open();
    await say(page, 'Hello');
    await page.do(() => page.regenerate());
    await page.until(() => page.error).catch(() => {});
    return { status: page.status, error: page.error?.message };
  },
};
console.log(JSON.stringify(await scenes[scene]()));
process.exit(0);
