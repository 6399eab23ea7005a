// Where the servers under test are, and what they are expected to have.

import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../../', import.meta.url));

export const catalogue = JSON.parse(fs.readFileSync(path.join(root, 'tests/everything/catalogue.json'), 'utf8'));

const known = ['rust', 'c', 'python', 'node'];

/** The languages to test: all four, or those that TOCSIN_SERVERS names ("rust,c"). */
export const languages = (process.env.TOCSIN_SERVERS ?? known.join(','))
  .split(',')
  .map(name => name.trim())
  .filter(Boolean);

if (languages.length === 0) throw new Error('TOCSIN_SERVERS names no server');

/** TOCSIN_LAUNCHERS lets the scripts be tried against servers that are built elsewhere. */
export function launcher(language) {
  if (!known.includes(language)) throw new Error(`no server '${language}'; there are ${known.join(', ')}`);
  const file = path.resolve(root, process.env.TOCSIN_LAUNCHERS ?? 'build', `everything-${language}`);
  if (!fs.existsSync(file)) throw new Error(`${file} is missing; make everything builds it`);
  return file;
}
