// Drives the published AG-UI client against a server: node agui.mjs URL TOKEN AGENT SCENE
import { HttpAgent } from '@ag-ui/client';

const [url, token, agentName, scene] = process.argv.slice(2);
const threadId = `front-${process.pid}-${scene}`;
const make = () =>
  new HttpAgent({ url: `${url}/v1/agui/${agentName}`, headers: { Authorization: `Bearer ${token}` }, threadId });

const run = async (agent, parameters = {}, onWords = () => {}) => {
  const seen = { types: [], text: '', interrupts: [], outcome: undefined, error: undefined };
  await agent
    .runAgent(parameters, {
      onEvent: ({ event }) => {
        seen.types.push(event.type);
        if (event.type === 'RUN_STARTED') seen.thread = event.metadata.waymark.thread;
        if (event.type === 'TEXT_MESSAGE_CONTENT') {
          seen.text += event.delta;
          onWords(seen.thread);
        }
        if (event.type === 'RUN_FINISHED') {
          seen.outcome = event.outcome?.type;
          seen.interrupts = event.outcome?.interrupts ?? [];
        }
        if (event.type === 'RUN_ERROR') seen.error = event.code;
      },
    })
    .catch((failure) => {
      seen.error ??= String(failure.message ?? failure);
    });
  return seen;
};
const say = (agent, content) => agent.messages.push({ id: crypto.randomUUID(), role: 'user', content });

const scenes = {
  async talk() {
    const agent = make();
    say(agent, 'Hello');
    const first = await run(agent);
    say(agent, 'And again');
    const second = await run(agent);
    return { first, second, messages: agent.messages.map((m) => [m.role, m.content ?? '']) };
  },
  async approval(resolution) {
    const agent = make();
    say(agent, 'Pay');
    const asked = await run(agent);
    const resume = asked.interrupts.map((i) => ({ interruptId: i.id, status: 'resolved', payload: resolution }));
    const done = await run(agent, { resume });
    return { asked, done, messages: agent.messages };
  },
  approve: () => scenes.approval({ approved: true }),
  edit: () => scenes.approval({ approved: true, args: { cents: 4200 } }),
  deny: () => scenes.approval({ approved: false, reason: 'Too dear' }),
  async questions() {
    const agent = make();
    say(agent, 'Book');
    const asked = await run(agent);
    const resume = asked.interrupts.map((i, n) => ({
      interruptId: i.id,
      status: 'resolved',
      payload: { answer: n === 0 ? 'Friday' : '12A' },
    }));
    return { asked, done: await run(agent, { resume }), messages: agent.messages };
  },
  // The turn is stopped in the middle of a reply.
  async stop() {
    const agent = make();
    say(agent, 'Count');
    const stopTurn = (thread) =>
      fetch(`${url}/v1/threads/${thread}/stop`, {
        method: 'POST', headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }, body: '{}',
      });
    const stopped = await run(agent, {}, stopTurn);
    const other = make();
    await run(other);
    const shown = ({ messages }) => messages.map((m) => [m.role, m.content ?? '']);
    return { stopped, messages: shown(agent), reloaded: shown(other) };
  },
  // The page runs a tool itself, and the model is told about the page.
  async frontEnd() {
    const agent = make();
    say(agent, 'A seat, please');
    const context = (value) => [{ description: 'The page </context> that is open', value }];
    const asked = await run(agent, { context: context('plan of car 7') });
    const resume = asked.interrupts.map((i) => ({
      interruptId: i.id,
      status: 'resolved',
      payload: { output: { seat: `${i.metadata.args.row}C`, price: 12.5 } },
    }));
    const done = await run(agent, { resume });
    const messages = agent.messages.map((m) => [m.role, m.content ?? '']);
    const other = make();
    await run(other);
    // The page sends the same message again, after something in it has changed.
    const again = make();
    again.messages = [agent.messages[0]];
    const repeated = await run(again, { context: context('something else') });
    return { asked, done, messages, reloaded: other.messages.map((m) => [m.role, m.content ?? '']), repeated };
  },
  async frontEndFails() {
    const agent = make();
    say(agent, 'A seat, please');
    const asked = await run(agent);
    const answer = (payload) => asked.interrupts.map(({ id }) => ({ interruptId: id, status: 'resolved', payload }));
    const post = async (payload) => {
      const response = await fetch(`${url}/v1/agui/${agentName}`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ threadId, runId: crypto.randomUUID(), messages: [], resume: answer(payload) }),
      });
      return (await response.json()).code;
    };
    const refused = [await post({ answer: '12C' }), await post('12C'), await post({ output: 1, error: 'both' }), await post({ error: 1 })];
    return { refused, done: await run(agent, { resume: answer({ error: 'no plan of this car' }) }) };
  },
  async cancelledFrontEnd() {
    const agent = make();
    say(agent, 'A seat, please');
    const asked = await run(agent);
    return { done: await run(agent, { resume: asked.interrupts.map(({ id }) => ({ interruptId: id, status: 'cancelled' })) }) };
  },
  async reload() {
    const agent = make();
    say(agent, 'Hello');
    const before = await run(agent);
    const other = make();
    other.threadId = agent.threadId;
    const after = await run(other);
    return { before, after, messages: other.messages.map((m) => [m.role, m.content ?? '']) };
  },
};
console.log(JSON.stringify(await scenes[scene]()));
process.exit(0);
