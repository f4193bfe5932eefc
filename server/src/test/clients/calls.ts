// Calls each operation, with a client that openapi-typescript has generated from the API's document. Compiled, not run.
import createClient from 'openapi-fetch';
import type { paths } from './api.js';

const api = createClient<paths>({ baseUrl: 'http://127.0.0.1:8080' });

export async function calls() {
  await api.GET('/v1/openapi.json');
  await api.GET('/v1/health');
  await api.GET('/v1/me');
  await api.GET('/v1/agents');
  await api.GET('/v1/threads');
  await api.POST('/v1/threads', { body: { agent: 'assistant', message: 'Pay', schema: { type: 'object' }, context: { customer: 7, tags: ['a'] } } });
  await api.POST('/v1/imports', { body: { checkpoint: { format: 'runner', messages: [] } } });
  await api.GET('/v1/threads/{thread}', { params: { path: { thread: 'trip' } } });
  await api.GET('/v1/threads/{thread}/messages', { params: { path: { thread: 'trip' } } });
  await api.GET('/v1/threads/{thread}/conversation', { params: { path: { thread: 'trip' } } });
  await api.GET('/v1/threads/{thread}/files/{path}', { params: { path: { thread: 'trip', path: 'notes.md' } } });
  await api.GET('/v1/threads/{thread}/moments', { params: { path: { thread: 'trip' } } });
  await api.GET('/v1/threads/{thread}/pending', { params: { path: { thread: 'trip' } } });
  await api.GET('/v1/threads/{thread}/calls', { params: { path: { thread: 'trip' } } });
  await api.GET('/v1/threads/{thread}/grants', { params: { path: { thread: 'trip' } } });
  await api.GET('/v1/threads/{thread}/versions', { params: { path: { thread: 'trip' } } });
  await api.GET('/v1/threads/{thread}/result', { params: { path: { thread: 'trip' } } });
  await api.GET('/v1/threads/{thread}/checkpoint', { params: { path: { thread: 'trip' } } });
  await api.GET('/v1/threads/{thread}/events', { params: { path: { thread: 'trip' } }, parseAs: 'text' });
  await api.POST('/v1/threads/{thread}/say', { params: { path: { thread: 'trip' } }, body: { message: 'Hi' } });
  await api.POST('/v1/threads/{thread}/answer', { params: { path: { thread: 'trip' } }, body: { callId: 'tu_1', answer: 'Friday' } });
  await api.POST('/v1/threads/{thread}/approve', { params: { path: { thread: 'trip' } }, body: { callId: 'tu_1', argsDigest: 'd', args: { cents: 50 }, grant: { times: 3, like: { properties: { cents: { maximum: 50 } } } } } });
  await api.POST('/v1/threads/{thread}/deny', { params: { path: { thread: 'trip' } }, body: { callId: 'tu_1', argsDigest: 'd', reason: 'Too much' } });
  await api.POST('/v1/threads/{thread}/revoke', { params: { path: { thread: 'trip' } }, body: { grant: 1 } });
  await api.POST('/v1/threads/{thread}/settle', { params: { path: { thread: 'trip' } }, body: { callId: 'tu_1', outcome: 'done', result: 'paid' } });
  await api.POST('/v1/threads/{thread}/budget', { params: { path: { thread: 'trip' } }, body: { usd: 2.5 } });
  await api.POST('/v1/threads/{thread}/stop', { params: { path: { thread: 'trip' } }, body: {} });
  await api.POST('/v1/threads/{thread}/close', { params: { path: { thread: 'trip' } }, body: {} });
  await api.POST('/v1/threads/{thread}/cancel', { params: { path: { thread: 'trip' } }, body: {} });
  await api.POST('/v1/threads/{thread}/fork', { params: { path: { thread: 'trip' } }, body: { at: '1', message: 'Again' } });
  await api.POST('/v1/threads/{thread}/resume', { params: { path: { thread: 'trip' } }, body: { answer: 'Go on' } });
  await api.POST('/v1/agui/{agent}', { params: { path: { agent: 'assistant' } }, body: { threadId: 'trip', runId: 'run', messages: [{ id: 'm1', role: 'user', content: 'Hi' }] }, parseAs: 'text' });
  await api.POST('/v1/ai-sdk/{agent}', { params: { path: { agent: 'assistant' } }, body: { id: 'trip', messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }] }, parseAs: 'text' });
  await api.GET('/v1/ai-sdk/{agent}/{chat}', { params: { path: { agent: 'assistant', chat: 'trip' } } });
  await api.GET('/v1/ai-sdk/{agent}/{chat}/stream', { params: { path: { agent: 'assistant', chat: 'trip' } }, parseAs: 'text' });
  await api.POST('/mcp', { body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } });
  await api.GET('/v1/schedules');
  await api.POST('/v1/schedules', { body: { name: 'daily', agent: 'assistant', message: 'Pay', cron: '0 8 * * *', context: { customer: 7 } } });
  await api.GET('/v1/schedules/{schedule}', { params: { path: { schedule: 'daily' } } });
  await api.DELETE('/v1/schedules/{schedule}', { params: { path: { schedule: 'daily' } } });
  await api.POST('/v1/schedules/{schedule}/pause', { params: { path: { schedule: 'daily' } }, body: { note: 'Holidays' } });
  await api.POST('/v1/schedules/{schedule}/resume', { params: { path: { schedule: 'daily' } }, body: {} });
  await api.POST('/v1/schedules/{schedule}/trigger', { params: { path: { schedule: 'daily' } }, body: {} });
  await api.POST('/v1/schedules/{schedule}/backfill', { params: { path: { schedule: 'daily' } }, body: { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' } });
}
