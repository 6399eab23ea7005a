// A connected official client with everything observed: notifications, errors, and the processes it started.

import assert from 'node:assert/strict';
import diagnostics from 'node:diagnostics_channel';
import { setTimeout as after } from 'node:timers/promises';

import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { launcher, root } from './servers.mjs';

export const MODERN = '2026-07-28';
export const HANDSHAKES = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

/** How long an event that must come may take. Generous: a loaded machine is no fault of the server's. */
const PATIENCE = 20_000;

/** Rejects with a clear text when `promise` takes too long. */
export async function within(promise, what, ms = PATIENCE) {
  const stop = new AbortController();
  const late = after(ms, undefined, { signal: stop.signal, ref: false }).then(
    () => assert.fail(`waited ${ms} ms for ${what}`),
    () => {}
  );
  try {
    return await Promise.race([promise, late]);
  } finally {
    stop.abort();
  }
}

/** Notifications in the order in which they came; `next` waits for one and takes it and all before it. */
export class Inbox {
  #items = [];
  #waiting = [];

  put(item) {
    this.#items.push(item);
    for (const wake of this.#waiting.splice(0)) wake();
  }

  async next(matches, what) {
    const found = async () => {
      for (;;) {
        const index = this.#items.findIndex(matches);
        if (index >= 0) return this.#items.splice(0, index + 1).at(-1);
        await new Promise(resolve => this.#waiting.push(resolve));
      }
    };
    return within(found(), what);
  }

  /** What came and was not taken. */
  get rest() {
    return [...this.#items];
  }
}

// The transport hides its child, and the throw-away one that it probes with; Node announces both here.
const births = new Set();
diagnostics.subscribe('child_process', ({ process }) => {
  for (const tell of births) tell(process);
});

/** The client complains of a report that it reads together with the result; that is its own affair. */
const lateProgress = /progress notification for an unknown token/;

/** The subclass makes the client probe on the connection itself; the plain class probes on a throw-away process. */
class InPlaceTransport extends StdioClientTransport {}

export class Session {
  changes = new Inbox();
  errors = [];
  questions = [];
  children = [];
  answer = 'accept';

  /**
   * `version` pins the revision; `mode: 'auto'` lets the client find out. `listChanged` has the client itself
   * subscribe, in whatever way its era does that.
   */
  static async open(language, { version = MODERN, mode, args = [], inPlace = false, listChanged = false } = {}) {
    const session = new Session();
    const negotiation = mode ?? (version === MODERN ? { pin: MODERN } : 'legacy');
    session.client = new Client(
      { name: 'interop', version: '1.0.0' },
      {
        capabilities: { elicitation: { form: {} }, sampling: {}, roots: {} },
        versionNegotiation: { mode: negotiation },
        ...(negotiation === 'legacy' && { supportedProtocolVersions: [version] }),
        ...(listChanged && { listChanged: session.#handlers() })
      }
    );
    session.#listen(listChanged);
    session.client.onerror = error => session.errors.push(error);

    const Transport = inPlace ? InPlaceTransport : StdioClientTransport;
    session.transport = new Transport({ command: launcher(language), args, cwd: root, stderr: 'pipe' });
    session.stderr = '';
    session.transport.stderr.on('data', chunk => (session.stderr += chunk));

    const born = child => session.#watch(child);
    births.add(born);
    try {
      await within(session.client.connect(session.transport), `the connection to ${language}`);
    } catch (error) {
      await session.client.close();
      throw error;
    } finally {
      births.delete(born);
    }
    return session;
  }

  #watch(child) {
    const exit = new Promise(resolve => child.once('exit', (code, signal) => resolve({ code, signal })));
    this.children.push({ child, exit });
  }

  #handlers() {
    const handler = kind => ({
      debounceMs: 0,
      onChanged: (error, items) => this.changes.put({ kind, error, items })
    });
    return { tools: handler('tools'), prompts: handler('prompts'), resources: handler('resources') };
  }

  #listen(listChanged) {
    const { client } = this;
    const tell = kind => notification => this.changes.put({ kind, params: notification.params });
    if (!listChanged) {
      client.setNotificationHandler('notifications/tools/list_changed', tell('tools'));
      client.setNotificationHandler('notifications/prompts/list_changed', tell('prompts'));
      client.setNotificationHandler('notifications/resources/list_changed', tell('resources'));
    }
    client.setNotificationHandler('notifications/resources/updated', tell('updated'));
    client.setNotificationHandler('notifications/message', tell('message'));
    client.setRequestHandler('elicitation/create', request => {
      this.questions.push(request.params);
      return this.answer === 'accept'
        ? { action: 'accept', content: fill(request.params.requestedSchema) }
        : { action: this.answer };
    });
    client.setRequestHandler('sampling/createMessage', request => {
      this.questions.push(request.params);
      return { model: 'parrot', role: 'assistant', content: { type: 'text', text: 'Polly has a cracker.' } };
    });
    client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///harbour', name: 'harbour' }] }));
  }

  call(name, args = {}, options) {
    return within(this.client.callTool({ name, arguments: args }, options), `the result of ${name}`);
  }

  /** Calls a tool that answers with one text. */
  async text(name, args) {
    const result = await this.call(name, args);
    assert.ok(!result.isError, `${name} failed: ${JSON.stringify(result.content)}`);
    assert.equal(result.content[0].type, 'text');
    return result.content[0].text;
  }

  async names(kind) {
    const list = {
      tools: () => this.client.listTools(),
      prompts: () => this.client.listPrompts(),
      resources: () => this.client.listResources(),
      resourceTemplates: () => this.client.listResourceTemplates()
    };
    const result = await within(list[kind](), `the list of ${kind}`);
    return result[kind].map(item => item.name);
  }

  change(kind) {
    return this.changes.next(item => item.kind === kind, `the news that ${kind} changed`);
  }

  /** The process that serves this session; a throw-away one may have come before it. */
  get served() {
    return this.children.at(-1);
  }

  /** Closes the client's way; the server must go by itself, with status 0, throw-away processes included. */
  async close() {
    const { child } = this.served;
    await within(this.client.close(), 'the client to close');
    for (const { exit } of this.children) {
      const { code, signal } = await within(exit, 'the server to exit');
      assert.deepEqual({ code, signal }, { code: 0, signal: null }, `exit status; stderr:\n${this.stderr}`);
    }
    assert.equal(child.killed, false, 'the server left only when it was killed');
    assert.deepEqual(this.errors.map(String).filter(text => !lateProgress.test(text)), [], 'the client complained');
  }
}

/** An answer that fits the form: the server's schema decides which fields there are. */
function fill(schema) {
  const value = ({ type, format, enum: choices, default: preset }) => {
    if (preset !== undefined) return preset;
    if (choices) return choices[0];
    if (type === 'boolean') return true;
    if (type === 'integer' || type === 'number') return 7;
    return format === 'email' ? 'ada@example.org' : 'Ada';
  };
  return Object.fromEntries(Object.entries(schema.properties).map(([name, property]) => [name, value(property)]));
}
