// One client, four languages: subscribe once, add a tool, be told.
//
// A real client (the official TypeScript one) starts each server, subscribes with subscriptions/listen, has a tool
// added and follows the news: told, listed, called. Every time shown is measured. Run from the project's root.

import fs from 'node:fs';

import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const servers = {
  Python: 'build/everything-python',
  Node: 'build/everything-node',
  C: 'build/everything-c',
  Rust: 'build/everything-rust'
};
const NEW_TOOL = 'noon_bell';
const PATIENCE = 10_000;

const paint = process.stdout.isTTY && !process.env.NO_COLOR;
const style = code => text => (paint ? `\x1b[${code}m${text}\x1b[0m` : text);
const [bold, dim, red, green, gold] = ['1', '2', '31', '32', '1;33'].map(style);
const plain = text => text;
const say = (line = '') => console.log(line && `  ${line}`);
const ms = time => `${time < 100 ? time.toFixed(2) : Math.round(time)} ms`;
const has = (list, name) => list.some(item => item.name === name);

function check(truth, complaint) {
  if (!truth) throw new Error(complaint);
}

/** Takes one step of the story and prints it with its time; `tell` checks and says what came of it. */
async function step(title, action, tell, colour = plain) {
  const start = performance.now();
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${title}: nothing happened in ${PATIENCE / 1000} s`)), PATIENCE);
  });
  try {
    const result = await Promise.race([action(), late]);
    const time = performance.now() - start;
    say(`  ${colour(`${title.padEnd(13)}${tell(result).padEnd(42)}`)}${dim(ms(time).padStart(10))}`);
    return result;
  } finally {
    clearTimeout(timer);
  }
}

// A subclass has the client probe on the connection itself; for the plain class it starts a second, throw-away
// process, and the time to connect would count both.
class Stdio extends StdioClientTransport {}

/** The story of one server; returns how long the news took to come. */
async function visit(command) {
  const client = new Client({ name: 'demo', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });

  let ring;
  const bell = new Promise(resolve => (ring = resolve));
  client.setNotificationHandler('notifications/tools/list_changed', () => ring(performance.now()));

  try {
    await step(
      'connects',
      () => client.connect(new Stdio({ command, stderr: 'ignore' })),
      () => `${client.getServerVersion()?.name ?? 'a server'}, MCP ${client.getNegotiatedProtocolVersion()}`
    );
    await step(
      'lists',
      () => client.listTools(),
      ({ tools }) => {
        check(!has(tools, NEW_TOOL), `${NEW_TOOL} was there before it was added`);
        return `${tools.length} tools`;
      }
    );
    await step(
      'listens',
      () => client.listen({ toolsListChanged: true }),
      ({ honoredFilter }) => {
        check(honoredFilter.toolsListChanged, 'the server does not promise to tell of tools');
        return 'subscriptions/listen, acknowledged';
      }
    );

    // A call adds the tool, but the news is not the answer to that call: it comes by itself.
    const asked = performance.now();
    const added = client.callTool({ name: 'add_tool', arguments: { name: NEW_TOOL } });
    added.catch(() => {});
    const told = await step('is told', () => bell, () => 'the tools have changed', gold);
    check(!(await added).isError, `${NEW_TOOL} could not be added`);

    await step(
      'looks again',
      () => client.listTools(),
      ({ tools }) => {
        check(has(tools, NEW_TOOL), `${NEW_TOOL} is not listed`);
        return `${tools.length} tools, ${NEW_TOOL} among them`;
      }
    );
    await step(
      'calls it',
      () => client.callTool({ name: NEW_TOOL, arguments: {} }),
      ({ content }) => {
        check(content[0]?.text === NEW_TOOL, `${NEW_TOOL} answered something else`);
        return `it says "${content[0].text}"`;
      }
    );
    await step('leaves', () => client.close(), () => 'and the server stops');
    return told - asked;
  } finally {
    await client.close();
  }
}

const manifest = new URL('node_modules/@modelcontextprotocol/client/package.json', import.meta.url);
say();
say(bold('One bell, every language'));
say(dim(`The official TypeScript client ${JSON.parse(fs.readFileSync(manifest)).version} visits four servers.`));

const summary = [];
for (const [language, command] of Object.entries(servers)) {
  say();
  say(bold(language) + dim(`  ${command}`));
  try {
    check(fs.existsSync(command), `${command} is missing; make everything builds it`);
    const news = await visit(command);
    summary.push(`${green('✓')} ${language.padEnd(8)}told ${ms(news)} after it asked for a new tool`);
  } catch (error) {
    say(`  ${red('✗')} ${error.message}`);
    summary.push(`${red('✗')} ${language.padEnd(8)}${error.message}`);
    process.exitCode = 1;
  }
}

say();
for (const line of summary) say(line);
say();
