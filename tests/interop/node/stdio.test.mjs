// The official TypeScript client against every server, in every era that it can speak.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';

import { HANDSHAKES, MODERN, Session, within } from './harness.mjs';
import { catalogue, languages } from './servers.mjs';

const names = kind => catalogue[kind].map(item => item.name);
const ALL = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
const WATCHED = 'test://watched-resource';

/** A test with its own server process, which must leave well in the end. */
function session(title, language, options, body) {
  it(title, { timeout: 120_000 }, async () => {
    const s = await Session.open(language, options);
    let passed = false;
    try {
      await body(s);
      passed = true;
    } finally {
      // After a failure the closing checks would only hide what went wrong.
      if (passed) await s.close();
      else await s.client.close();
    }
  });
}

for (const language of languages) {
  for (const version of [MODERN, ...HANDSHAKES]) {
    describe(`${language}, ${version}`, () => everyEra(language, version));
  }
  describe(`${language}, listen`, () => listening(language));
  describe(`${language}, negotiation`, () => negotiating(language));
}

function everyEra(language, version) {
  const modern = version === MODERN;
  // Structured content came with this revision; an older client gets its text alone.
  const structured = version >= '2025-06-18';
  const options = { version };

  session('connects and learns who the server is', language, options, async s => {
    assert.equal(s.client.getNegotiatedProtocolVersion(), version);
    assert.equal(s.client.getProtocolEra(), modern ? 'modern' : 'legacy');
    assert.ok(s.client.getServerVersion().name);
    assert.equal(s.client.getInstructions(), catalogue.instructions);
    const { tools, prompts, resources } = s.client.getServerCapabilities();
    assert.ok(tools.listChanged && prompts.listChanged && resources.listChanged && resources.subscribe);
    const me = JSON.parse(await s.text('whoami'));
    assert.deepEqual(me, {
      era: modern ? 'modern' : 'handshake',
      protocolVersion: version,
      transport: 'stdio',
      client: { name: 'interop', version: '1.0.0' }
    });
  });

  for (const args of [[], ['--page-size', '3']]) {
    session(`lists the catalogue ${args.join(' ')}`, language, { ...options, args }, async s => {
      for (const kind of ['tools', 'prompts', 'resources', 'resourceTemplates']) {
        assert.deepEqual(await s.names(kind), names(kind));
      }
      const { tools } = await s.client.listTools();
      const add = tools.find(tool => tool.name === 'add');
      assert.equal('outputSchema' in add, structured);
    });
  }

  session('calls, reads and gets', language, options, async s => {
    for (const text of ['', 'plain', '★🎉ж✓ \u2028 \u0085 "\\ \n']) assert.equal(await s.text('echo', { text }), text);

    const sum = await s.call('add', { a: 2, b: -7 });
    assert.deepEqual(JSON.parse(sum.content[0].text), { sum: -5 });
    assert.deepEqual(sum.structuredContent, structured ? { sum: -5 } : undefined);

    const many = await Promise.all(Array.from({ length: 100 }, (_, i) => s.text('echo', { text: `${i}` })));
    assert.deepEqual(many, Array.from({ length: 100 }, (_, i) => `${i}`));

    const { contents } = await s.client.readResource({ uri: 'test://static-text' });
    assert.equal(contents[0].uri, 'test://static-text');
    assert.ok(contents[0].text);

    const prompt = await s.client.getPrompt({
      name: 'test_prompt_with_arguments',
      arguments: { arg1: 'salt', arg2: 'pepper' }
    });
    assert.match(prompt.messages[0].content.text, /salt.*pepper/s);
  });

  session('says what went wrong', language, options, async s => {
    const failed = await s.call('fail', { message: 'the bell is cracked' });
    assert.equal(failed.isError, true);
    assert.match(failed.content[0].text, /the bell is cracked/);
    assert.equal((await s.call('crash')).isError, true);
    const refused = error => error instanceof ProtocolError && error.code === -32602;
    await assert.rejects(s.call('no_such_tool'), refused);
    await assert.rejects(s.client.getPrompt({ name: 'no_such_prompt' }), refused);
    assert.equal(await s.text('echo', { text: 'alive' }), 'alive');
  });

  session('hears progress', language, options, async s => {
    const heard = [];
    await s.call('sleep', { ms: 400 }, { onprogress: progress => heard.push(progress) });
    assert.ok(heard.length >= 2, `${heard.length} reports`);
    assert.ok(heard.every(report => report.total === 400));
    assert.ok(heard.every((report, i) => i === 0 || report.progress > heard[i - 1].progress));
  });

  session('cancels a long call', language, options, async s => {
    const stop = new AbortController();
    const call = s.call('sleep', { ms: 600_000 }, { signal: stop.signal, onprogress: () => stop.abort('enough') });
    await assert.rejects(call, error => error instanceof SdkError);
    // A report that crossed the cancellation is nobody's fault; one after this answer is.
    assert.equal(await s.text('echo', { text: 'next' }), 'next');
    s.errors.length = 0;
    await s.call('sleep', { ms: 200 });
    assert.deepEqual(s.errors, []);
  });

  session('is told of every change, and finds it', language, { ...options, listChanged: true }, async s => {
    await s.text('add_tool', { name: 'fresh_tool' });
    const told = await s.change('tools');
    assert.equal(told.error, null);
    assert.deepEqual(told.items.map(item => item.name), [...names('tools'), 'fresh_tool']);
    assert.equal(await s.text('fresh_tool'), 'fresh_tool');

    await s.text('remove_tool', { name: 'fresh_tool' });
    await s.change('tools');
    assert.deepEqual(await s.names('tools'), names('tools'));
    await assert.rejects(s.call('fresh_tool'), ProtocolError);

    await s.text('add_prompt', { name: 'fresh_prompt' });
    await s.change('prompts');
    assert.ok((await s.names('prompts')).includes('fresh_prompt'));
    assert.ok((await s.client.getPrompt({ name: 'fresh_prompt' })).messages.length);

    await s.text('add_resource', { uri: 'test://fresh' });
    await s.change('resources');
    const { resources } = await s.client.listResources();
    assert.ok(resources.some(resource => resource.uri === 'test://fresh'));
    assert.ok((await s.client.readResource({ uri: 'test://fresh' })).contents.length);

    // What changes nothing is refused, and nobody is told.
    assert.equal((await s.call('add_prompt', { name: 'fresh_prompt' })).isError, true);
    assert.equal((await s.call('remove_tool', { name: 'fresh_tool' })).isError, true);
    assert.deepEqual(s.changes.rest, []);
  });

  session('ends a burst with what is true', language, { ...options, listChanged: true }, async s => {
    await s.call('burst', { count: 500 });
    // Each telling carries the list fetched on it; the last one must show how the burst ended.
    await s.changes.next(
      ({ kind, items }) => kind === 'tools' && items?.some(tool => tool.name === 'burst_tool'),
      'burst_tool'
    );
  });

  session('is told when a resource was updated', language, options, async s => {
    const subscription = modern ? await s.client.listen({ resourceSubscriptions: [WATCHED] }) : undefined;
    if (!modern) await s.client.subscribeResource({ uri: WATCHED });
    await s.text('touch_resource', { uri: 'test://static-text' });
    await s.text('touch_resource', { uri: WATCHED });
    const told = await s.change('updated');
    assert.equal(told.params.uri, WATCHED);

    if (modern) await subscription.close();
    else await s.client.unsubscribeResource({ uri: WATCHED });
    await s.text('touch_resource', { uri: WATCHED });
    assert.deepEqual(s.changes.rest, []);
  });

  session('answers questions', language, options, async s => {
    assert.match(await s.text('test_sampling', { prompt: 'Polly?' }), /Polly has a cracker/);
    s.questions.length = 0;
    if (!structured) {
      // Elicitation came with 2025-06-18 too: the server must not send what this revision does not know.
      assert.equal((await s.call('test_elicitation', { message: 'Who rings?' })).isError, true);
      assert.deepEqual(s.questions, []);
      return;
    }

    const accepted = await s.text('test_elicitation', { message: 'Who rings?' });
    assert.equal(s.questions.length, 1);
    assert.equal(s.questions[0].message, 'Who rings?');
    assert.match(accepted, /accept/);
    for (const field of Object.keys(s.questions[0].requestedSchema.properties)) assert.ok(accepted.includes(field));

    s.answer = 'decline';
    assert.match(await s.text('test_elicitation', { message: 'Who rings?' }), /decline/);
    s.answer = 'cancel';
    assert.match(await s.text('test_elicitation', { message: 'Who rings?' }), /cancel/);

    assert.equal((await s.call('test_input_required_result_list_roots')).isError ?? false, false);
  });

  session('closes in the middle of everything', language, { ...options, listChanged: true }, async s => {
    const call = s.client.callTool({ name: 'sleep', arguments: { ms: 600_000 } }, { onprogress: () => started() });
    call.catch(() => {});
    let started;
    await within(new Promise(resolve => (started = resolve)), 'the call to start');
  });
}

function listening(language) {
  const options = { version: MODERN };

  session('honours what was asked for, and nothing else', language, options, async s => {
    const both = await s.client.listen({ toolsListChanged: true, resourceSubscriptions: [WATCHED] });
    assert.deepEqual(both.honoredFilter, { toolsListChanged: true, resourceSubscriptions: [WATCHED] });
    const prompts = await s.client.listen({ promptsListChanged: true });
    assert.deepEqual(prompts.honoredFilter, { promptsListChanged: true });

    await s.text('add_resource', { uri: 'test://unasked' });
    await s.text('add_prompt', { name: 'asked' });
    await s.change('prompts');
    await s.text('add_tool', { name: 'asked' });
    await s.change('tools');
    assert.deepEqual(s.changes.rest, []);

    // One subscription ends, the other goes on.
    await prompts.close();
    assert.equal(await prompts.closed, 'local');
    await s.text('add_prompt', { name: 'unheard' });
    await s.text('add_tool', { name: 'heard' });
    await s.change('tools');
    assert.deepEqual(s.changes.rest, []);
    await both.close();
  });

  session('tags each notification with its subscription', language, options, async s => {
    const subscriptions = [await s.client.listen(ALL), await s.client.listen(ALL)];
    await s.text('add_tool', { name: 'twice' });
    const tags = [await s.change('tools'), await s.change('tools')].map(
      ({ params }) => params._meta['io.modelcontextprotocol/subscriptionId']
    );
    assert.deepEqual(tags.sort(), ['listen:0', 'listen:1']);
    for (const subscription of subscriptions) await subscription.close();
  });

  session('says nothing to who did not ask', language, options, async s => {
    await s.text('add_tool', { name: 'quiet' });
    await s.text('touch_resource', { uri: WATCHED });
    assert.ok((await s.names('tools')).includes('quiet'));
    assert.deepEqual(s.changes.rest, []);
  });

  const withheld = ['--no-listen-capability', 'prompts'];
  session('does not promise what it withholds', language, { ...options, args: withheld }, async s => {
    assert.ok(!s.client.getServerCapabilities().prompts.listChanged);
    const subscription = await s.client.listen(ALL);
    assert.deepEqual(subscription.honoredFilter, { toolsListChanged: true, resourcesListChanged: true });
    await subscription.close();
  });

  session('refuses more than the cap, and takes a freed place', language, { ...options, args: ['--max-subscriptions', '2'] }, async s => {
    const first = await s.client.listen(ALL);
    const second = await s.client.listen(ALL);
    await assert.rejects(s.client.listen(ALL), error => error instanceof ProtocolError && error.code === -32603);
    await first.close();
    const third = await s.client.listen(ALL);
    for (const subscription of [second, third]) await subscription.close();
  });

  it('ends subscriptions gracefully when it is told to stop', { timeout: 120_000 }, async () => {
    const s = await Session.open(language, options);
    const subscription = await s.client.listen(ALL);
    s.served.child.kill('SIGTERM');
    assert.equal(await within(subscription.closed, 'the subscription to end'), 'graceful');
    assert.deepEqual(await within(s.served.exit, 'the server to exit'), { code: 0, signal: null });
    await s.client.close();
  });
}

function negotiating(language) {
  for (const inPlace of [false, true]) {
    const where = inPlace ? 'on the connection' : 'on a throw-away process';

    session(`finds the modern era, probing ${where}`, language, { mode: 'auto', inPlace }, async s => {
      assert.equal(s.client.getNegotiatedProtocolVersion(), MODERN);
      assert.ok(s.client.getDiscoverResult().supportedVersions.includes(MODERN));
      assert.equal(s.children.length, inPlace ? 1 : 2);
      assert.equal(await s.text('echo', { text: 'here' }), 'here');
    });

    const old = { mode: 'auto', inPlace, args: ['--protocol-versions', '2025-06-18,2025-03-26'] };
    session(`falls back to a handshake, probing ${where}`, language, old, async s => {
      assert.equal(s.client.getNegotiatedProtocolVersion(), '2025-06-18');
      assert.equal(JSON.parse(await s.text('whoami')).era, 'handshake');
    });
  }

  it('fails to pin a version that the server does not have', { timeout: 120_000 }, async () => {
    const open = Session.open(language, { version: MODERN, args: ['--protocol-versions', '2025-11-25'] });
    // The server says what it has instead, which is not for this client.
    await assert.rejects(open, error => error.code === -32022 && error.data.supported.join() === '2025-11-25');
  });

  session('offers what it has to a handshake client that asks for less', language, {
    version: '2025-11-25',
    args: ['--protocol-versions', '2026-07-28,2025-11-25']
  }, async s => {
    assert.equal(s.client.getNegotiatedProtocolVersion(), '2025-11-25');
  });

  session('takes an earlier discovery for granted', language, { version: MODERN }, async s => {
    const result = await s.client.discover();
    assert.deepEqual(result.capabilities, s.client.getDiscoverResult().capabilities);
    assert.equal(result.supportedVersions[0], MODERN);
  });
}
