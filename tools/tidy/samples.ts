/**
 * Bad samples: a few lines for every rule, and the expected finding.
 *
 * A check that cannot fail is worthless, so each gets a wrong sample. The good samples
 * below look similar but are correct: a check with false alarms would soon be disabled.
 */
import { limits } from './rules.ts'

export type CheckName = 'layers' | 'sizes' | 'shape' | 'names' | 'merges' | 'public' | 'bans' | 'dead' | 'walk'

export interface Sample {
  readonly check: CheckName
  readonly path: string
  readonly text: string
  /** The text of the finding; absent for a good sample. */
  readonly says?: RegExp
  /** Other files of the house. */
  readonly beside?: Readonly<Record<string, string>>
}

const src = 'packages/evenkeel/src'
const header = '/** A sample. */\n'
const line = 'export const a = 1\n'

const layerSamples: readonly Sample[] = [
  {
    check: 'layers',
    path: `${src}/api/up.ts`,
    text: "import type { Store } from '#store'",
    says: /api may not import store/,
  },
  {
    check: 'layers',
    path: `${src}/api/leave.ts`,
    text: "import { now } from '../base/clock.ts'",
    says: /leaves its layer/,
  },
  { check: 'layers', path: `${src}/api/self.ts`, text: "import { a } from '#api'", says: /does not import itself/ },
  {
    check: 'layers',
    path: `${src}/api/deep.ts`,
    text: "import { a } from '#base/clock'",
    says: /reaches into a layer/,
  },
  {
    check: 'layers',
    path: `${src}/api/top.ts`,
    text: "import { a } from '../public/index.ts'",
    says: /does not import a public entry/,
  },
  {
    check: 'layers',
    path: `${src}/api/named.ts`,
    text: "import { a } from 'evenkeel/unstable/base'",
    says: /does not import itself by name/,
  },
  {
    check: 'layers',
    path: `${src}/api/dynamic.ts`,
    text: "export const a = () => import('#store')",
    says: /api may not import store/,
  },
  {
    check: 'layers',
    path: `${src}/api/type.ts`,
    text: "export type A = import('#store').Store",
    says: /api may not import store/,
  },
  {
    check: 'layers',
    path: `${src}/api/computed.ts`,
    text: 'export const a = (name: string) => import(name)',
    says: /computed/,
  },
  {
    check: 'layers',
    path: `${src}/api/test.test.ts`,
    text: "import { a } from '#store'",
    says: /api may not import store/,
  },
  {
    check: 'layers',
    path: `${src}/api/package.ts`,
    text: "import { test } from 'fast-check'",
    says: /fast-check is not a dependency/,
  },
  {
    check: 'layers',
    path: `${src}/client/kinds.ts`,
    text: "import { makeCatalog } from '@evenkeel/builtins'",
    says: /client may not import @evenkeel\/builtins/,
  },
  {
    check: 'layers',
    path: 'packages/builtins/src/core/pod.ts',
    text: "import { startServer } from 'evenkeel/server'",
    beside: { 'packages/builtins/package.json': '{}' },
    says: /may not import evenkeel\/server/,
  },
  { check: 'layers', path: `${src}/api/builtin.ts`, text: "import { join } from 'path'", says: /write node:path/ },
  { check: 'layers', path: `${src}/cellar/a.ts`, text: line, says: /cellar is not a layer/ },
  { check: 'layers', path: `${src}/index.ts`, text: line, says: /src is not a layer/ },
  { check: 'layers', path: `${src}/public/index.ts`, text: line, says: /a public entry only re-exports/ },
  {
    check: 'layers',
    path: 'packages/cli/src/a.ts',
    text: "import { a } from 'evenkeel/server/walks'",
    says: /not published/,
  },
  {
    check: 'layers',
    path: 'packages/cli/src/b.ts',
    text: "import { a } from '../../evenkeel/src/api/index.ts'",
    beside: { 'packages/cli/package.json': '{}' },
    says: /leaves packages\/cli/,
  },
  {
    check: 'layers',
    path: 'packages/dcp/src/b.ts',
    text: "import { a } from '../../workloads/src/containers/podman.fixture.ts'",
    beside: {
      'packages/dcp/package.json': '{}',
      'packages/workloads/src/containers/podman.fixture.ts': 'export const a = 1',
    },
    says: /leaves packages\/dcp/,
  },
  {
    check: 'layers',
    path: 'packages/dcp/src/b.test.ts',
    text: "import { a } from '../../workloads/src/containers/podman.fixture.ts'",
    beside: {
      'packages/dcp/package.json': '{}',
      'packages/workloads/src/containers/podman.fixture.ts': 'export const a = 1',
    },
  },
  {
    check: 'layers',
    path: 'examples/one/main.ts',
    text: "import { a } from '../two/kinds.ts'",
    says: /leaves examples\/one/,
  },
  { check: 'layers', path: 'examples/one/page.test.ts', text: "import { a } from '../browser.fixture.ts'" },
  { check: 'layers', path: 'examples/one/start.test.ts', text: "import { a } from '../../tools/run.mjs'" },
  {
    check: 'layers',
    path: 'packages/conformance/src/a.ts',
    text: "import { a } from 'evenkeel/controller'",
    beside: { 'packages/conformance/package.json': '{}' },
    says: /judge may not import evenkeel\/controller/,
  },
  {
    check: 'layers',
    path: `${src}/server/good.ts`,
    text: "import { a } from '#store'\nimport { b } from './route.ts'\nimport { join } from 'node:path'",
  },
  {
    check: 'layers',
    path: `${src}/api/good.test.ts`,
    text: "import { test } from 'vitest'\nimport { a } from './patch/apply.ts'",
  },
  { check: 'layers', path: 'bench/good.ts', text: "import { a } from 'evenkeel'\nimport { b } from './table.ts'" },
]

const sizeSamples: readonly Sample[] = [
  {
    check: 'sizes',
    path: `${src}/api/long.ts`,
    text: '\n'.repeat(limits.fileLines) + line,
    says: /lines of file: 401, the limit is 400/,
  },
  {
    check: 'sizes',
    path: `${src}/api/function.ts`,
    text: `function f() {${'\n'.repeat(limits.functionLines)}}`,
    says: /lines of f: 61, the limit is 60/,
  },
  {
    check: 'sizes',
    path: 'tools/arrow.mjs',
    text: `const f = () => {${'\n'.repeat(limits.functionLines)}}`,
    says: /lines of f: 61/,
  },
  {
    check: 'sizes',
    path: `${src}/api/parameters.ts`,
    text: 'class A { constructor(a: 1, b: 2, c: 3, d: 4) {} }',
    says: /parameters of constructor: 4/,
  },
  {
    check: 'sizes',
    path: `${src}/api/full.ts`,
    text: line,
    beside: Object.fromEntries([...Array(limits.folderFiles).keys()].map((n) => [`${src}/api/f${n}.ts`, line])),
    says: /files in folder: 41/,
  },
  { check: 'sizes', path: `${src}/api/a/b/c/d/deep.ts`, text: line, says: /folders below the layer: 4/ },
  {
    check: 'sizes',
    path: `${src}/api/long.test.ts`,
    text: '\n'.repeat(limits.caseLines) + line,
    says: /lines of file: 801, the limit is 800/,
  },
  { check: 'sizes', path: `${src}/api/table.fixture.ts`, text: '\n'.repeat(limits.fileLines) + line },
  { check: 'sizes', path: `${src}/api/a/b/c/good.ts`, text: line },
  {
    check: 'sizes',
    path: `${src}/api/good.test.ts`,
    text: `describe('a', () => {${'\n'.repeat(limits.functionLines)}})`,
  },
  { check: 'sizes', path: `${src}/api/this.ts`, text: 'function f(this: 0, a: 1, b: 2, c: 3) {}' },
]

const shapeSamples: readonly Sample[] = [
  { check: 'shape', path: `${src}/api/bare.ts`, text: line, says: /header/ },
  { check: 'shape', path: `${src}/api/options.ts`, text: header, says: /does not say what is inside/ },
  { check: 'shape', path: `${src}/api/utils.ts`, text: header, says: /does not say what is inside/ },
  { check: 'shape', path: `${src}/api/helpers/a.ts`, text: header, says: /does not say what is inside/ },
  { check: 'shape', path: `${src}/api/camelCase.ts`, text: header, says: /kebab-case/ },
  { check: 'shape', path: `${src}/api/default.ts`, text: `${header}export default 1`, says: /default/ },
  {
    check: 'shape',
    path: `${src}/api/default-function.ts`,
    text: `${header}export default function f() {}`,
    says: /default/,
  },
  { check: 'shape', path: `${src}/api/enum.ts`, text: `${header}enum A { B }`, says: /enum/ },
  {
    check: 'shape',
    path: `${src}/api/namespace.ts`,
    text: `${header}namespace A { export const b = 1 }`,
    says: /namespace/,
  },
  {
    check: 'shape',
    path: `${src}/api/property.ts`,
    text: `${header}class A { constructor(readonly a: 1) {} }`,
    says: /parameter properties/,
  },
  { check: 'shape', path: `${src}/api/note.ts`, text: `${header}// ${'TO'}DO: later`, says: /issue number/ },
  {
    check: 'shape',
    path: `${src}/api/good-note.ts`,
    text: `${header}// ${'TO'}DO(#12): later\nexport const a = '${'TO'}DO'`,
  },
  { check: 'shape', path: `${src}/api/common-ancestor.test.ts`, text: line },
]

const nameSamples: readonly Sample[] = [
  {
    check: 'names',
    path: `${src}/server/second.ts`,
    text: 'export type Place = string',
    beside: { [`${src}/server/first.ts`]: 'export interface Place {}' },
    says: /Place is exported by packages\/evenkeel\/src\/server\/first.ts too/,
  },
  {
    check: 'names',
    path: `${src}/server/message.ts`,
    text: 'this.#log.warn(`cannot serve ' + '$' + '{name}`)',
    says: /a log message is a constant/,
  },
  {
    check: 'names',
    path: `${src}/server/passive.ts`,
    text: "log.error('a definition cannot be served', { error })",
    says: /a log message begins with what failed/,
  },
  {
    check: 'names',
    path: `${src}/server/passed.ts`,
    text: 'options.log?.error(message)',
    says: /a log message is a constant/,
  },
  {
    check: 'names',
    path: 'packages/workloads/src/logs/message.ts',
    text: "services.log?.error('an object with an open log cannot be followed', { error })",
    says: /a log message begins with what failed/,
  },
  {
    check: 'names',
    path: 'packages/workloads/src/session.ts',
    text: 'this.#log.info(`process ' + '$' + '{pid} of an earlier session`)',
    says: /a log message is a constant/,
  },
  {
    check: 'names',
    path: 'packages/cli/src/supervisor.ts',
    text: 'log.warn(error.message)',
    says: /a log message is a constant/,
  },
  { check: 'names', path: 'packages/workloads/src/session.fixture.ts', text: 'log.info(message)' },
  { check: 'names', path: 'bench/main.ts', text: 'log.info(message)' },
  {
    check: 'names',
    path: 'packages/workloads/src/journal.ts',
    text: "export interface Place {}\nlog?.warn('cannot write the session file', { path, error })",
    beside: { 'packages/workloads/src/place.ts': 'export interface Place {}' },
  },
  { check: 'names', path: `${src}/server/view.ts`, text: header },
  {
    check: 'names',
    path: `${src}/api/elsewhere.ts`,
    text: 'export type Place = string\ntype Private = 1',
    beside: {
      [`${src}/server/first.ts`]: 'export interface Place {}',
      [`${src}/api/private.ts`]: 'export type Private = 1',
    },
  },
  {
    check: 'names',
    path: `${src}/server/constant.ts`,
    text: "log.warn('API server warning', { text })\nlog.info(isOn ? 'started' : 'stopped')\nblog.warn(text)",
  },
]

const mergeSamples: readonly Sample[] = [
  {
    check: 'merges',
    path: `${src}/cache/paragraph.ts`,
    text: line,
    beside: { [`${src}/cache/page.ts`]: "import { a } from './paragraph.ts'" },
    says: /only packages\/evenkeel\/src\/cache\/page.ts imports this file/,
  },
  {
    check: 'merges',
    path: `${src}/cache/tested.ts`,
    text: line,
    beside: { [`${src}/cache/page.ts`]: "import { a } from './tested.ts'", [`${src}/cache/tested.test.ts`]: line },
  },
  {
    check: 'merges',
    path: `${src}/cache/shared.ts`,
    text: line,
    beside: {
      [`${src}/cache/page.ts`]: "import { a } from './shared.ts'",
      [`${src}/cache/index.ts`]: "export { a } from './shared.ts'",
    },
  },
  {
    check: 'merges',
    path: `${src}/cache/long.ts`,
    text: '\n'.repeat(limits.fileLines - 1) + line,
    beside: { [`${src}/cache/page.ts`]: "import { a } from './long.ts'" },
  },
  {
    check: 'merges',
    path: `${src}/cache/on-demand.ts`,
    text: line,
    beside: { [`${src}/cache/page.ts`]: "export const load = () => import('./on-demand.ts')" },
  },
]

const publicSamples: readonly Sample[] = [
  {
    check: 'public',
    path: `${src}/public/client.ts`,
    text: "export { connectToNothing } from '#client'",
    says: /no guide, example or public test uses connectToNothing of evenkeel\/client/,
  },
  {
    check: 'public',
    path: `${src}/public/index.ts`,
    text: "export { bare } from '#api'",
    beside: {
      [`${src}/api/index.ts`]: 'export function bare() {}',
      [`${src}/public/index.test.ts`]: "import { bare } from './index.ts'",
    },
    says: /bare has no doc comment/,
  },
  {
    check: 'public',
    path: `${src}/public/index.ts`,
    text: "export { shown } from '#api'",
    beside: {
      [`${src}/api/index.ts`]: '/** Shows. @example shown() */\nexport function shown() {}',
      'examples/show/main.ts': "import { shown } from 'evenkeel'",
    },
  },
]

const banSamples: readonly Sample[] = [
  ...[
    'Date.now()',
    'new Date()',
    'globalThis.Date',
    "globalThis['setTimeout']",
    'setTimeout(() => {}, 1)',
    'setInterval',
    'setImmediate',
    'clearTimeout',
  ].map(ban),
  ...[
    'Math.random()',
    'crypto.randomUUID()',
    'crypto.getRandomValues',
    'performance.now()',
    'process.hrtime.bigint()',
    'AbortSignal.timeout(1)',
  ].map(ban),
  ...[
    '(() => { const { random } = Math; return random })()',
    '(() => { const { Date: D } = globalThis; return D })()',
    '{ Date }',
    'class extends Date {}',
  ].map(ban),
  {
    check: 'bans',
    path: `${src}/api/timers.ts`,
    text: "import { setTimeout } from 'node:timers/promises'",
    says: /node:timers\/promises is for base only/,
  },
  {
    check: 'bans',
    path: `${src}/api/bytes.ts`,
    text: "import { randomBytes as b } from 'node:crypto'\nexport const a = b",
    says: /randomBytes is for base only/,
  },
  {
    check: 'bans',
    path: `${src}/api/crypto.ts`,
    text: "import * as c from 'node:crypto'\nexport const a = c.randomUUID()",
    says: /randomUUID is for base only/,
  },
  {
    check: 'bans',
    path: `${src}/api/hooks.ts`,
    text: "import { performance as p } from 'node:perf_hooks'\nexport const a = p.now()",
    says: /now is for base only/,
  },
  {
    check: 'bans',
    path: `${src}/api/clock.test.ts`,
    text: 'export const a = Date.now()',
    says: /Date is for base only/,
  },
  { check: 'bans', path: `${src}/base/clock.ts`, text: 'export const a = Date.now()' },
  { check: 'bans', path: 'bench/main.ts', text: 'export const a = Date.now()' },
  {
    check: 'bans',
    path: `${src}/api/local.ts`,
    text: 'export const f = (Date: number, clock: { now(): number }) => [Date, clock.now(), { Date: 1 }.Date, { setTimeout: 1 }]',
  },
  { check: 'bans', path: `${src}/api/types.ts`, text: 'export type A = { at: Date }\nqueueMicrotask(() => {})' },
  {
    check: 'bans',
    path: `${src}/api/hash.ts`,
    text: "import { createHash } from 'node:crypto'\nexport const a = createHash('sha256')",
  },
]

function ban(expression: string, index: number): Sample {
  return {
    check: 'bans',
    path: `${src}/api/ban-${index}.ts`,
    text: `export const a = ${expression}`,
    says: /is for base only/,
  }
}

const deadSamples: readonly Sample[] = [
  { check: 'dead', path: `${src}/api/alone.ts`, text: line, says: /a is exported but not used/ },
  {
    check: 'dead',
    path: `${src}/api/tested.ts`,
    text: line,
    beside: { [`${src}/api/tested.test.ts`]: "import { a } from './tested.ts'" },
  },
  {
    check: 'dead',
    path: `${src}/plane/listed.ts`,
    text: line,
    beside: { [`${src}/plane/index.ts`]: "export { a } from './listed.ts'" },
    says: /exported but not used/,
  },
  {
    check: 'dead',
    path: `${src}/api/index.ts`,
    text: "export * from './star.ts'",
    beside: { [`${src}/api/star.ts`]: line },
    says: /instead of a star/,
  },
  { check: 'dead', path: `${src}/api/one.fixture.ts`, text: line, says: /exported but not used/ },
  {
    check: 'dead',
    path: `${src}/api/used.ts`,
    text: line,
    beside: { [`${src}/api/user.ts`]: "import { a } from './used.ts'" },
  },
  {
    check: 'dead',
    path: `${src}/api/public.ts`,
    text: line,
    beside: {
      [`${src}/api/index.ts`]: "export { a as b } from './public.ts'",
      [`${src}/public/index.ts`]: "export { b } from '#api'",
    },
  },
  {
    check: 'dead',
    path: `${src}/queue/wanted.ts`,
    text: line,
    beside: {
      [`${src}/queue/index.ts`]: "export { a } from './wanted.ts'",
      [`${src}/controller/a.ts`]: "import { a } from '#queue'",
    },
  },
  {
    check: 'dead',
    path: `${src}/api/two.fixture.ts`,
    text: line,
    beside: { [`${src}/api/two.test.ts`]: "import { a } from './two.fixture.ts'" },
  },
]

/** For the walk the text is the page, and the other file is the one that exists. */
const walkSamples: readonly Sample[] = [
  { check: 'walk', path: 'docs/walk.md', text: '| 1 | `server/gone.ts` |', says: /does not exist/ },
  {
    check: 'walk',
    path: 'docs/walk.md',
    text: '| 1 | `server/here.ts` (planned) |',
    beside: { [`${src}/server/here.ts`]: line },
    says: /no longer planned/,
  },
  {
    check: 'walk',
    path: 'docs/walk.md',
    text: '| 1 | `server/here.ts` |',
    beside: { [`${src}/server/here.ts`]: '/** Room 2: where? */' },
    says: /room 2, this row is 1/,
  },
  { check: 'walk', path: 'docs/walk.md', text: '# nothing', says: /names no files/ },
  {
    check: 'walk',
    path: 'docs/walk.md',
    text: '| 1 | `server/here.ts` and `server/later.ts` (planned) |',
    beside: { [`${src}/server/here.ts`]: line },
  },
]

export const samples: readonly Sample[] = [
  ...layerSamples,
  ...sizeSamples,
  ...shapeSamples,
  ...nameSamples,
  ...mergeSamples,
  ...publicSamples,
  ...banSamples,
  ...deadSamples,
  ...walkSamples,
]
