/**
 * The house rules as data: sizes, names, layers, and who may import what.
 *
 * Change a rule here and say why on a page of docs/decisions (docs/decisions/layout.md explains the numbers).
 */

/** Sizes. Lines count everything between the first and the last one, comments too. */
export const limits = {
  fileLines: 400,
  /** Tests, fixtures and tables of cases: the formatter gives each entry of a table its own lines. */
  caseLines: 800,
  functionLines: 60,
  /** One test of a longer story, or one case. */
  caseFunctionLines: 100,
  parameters: 3,
  folderFiles: 40,
  /** Folders below the layer, or below `src` of another package. */
  folderDepth: 3,
} as const

/** Files that consist of cases: they are as long as the list is. */
export const caseFiles = /\.(?:test|fixture)\.ts$|^packages\/conformance\/src\/.*\/cases\/|^tools\/tidy\/samples\.ts$/

/** The layers of the library, lowest first, each with the layers it may import. */
export const layers: Readonly<Record<string, readonly string[]>> = {
  base: [],
  api: ['base'],
  wire: ['api', 'base'],
  kinds: ['api', 'base'],
  store: ['base'],
  queue: ['base'],
  server: ['wire', 'store', 'api', 'base'],
  client: ['wire', 'api', 'base'],
  webhook: ['wire', 'api', 'base'],
  cache: ['client', 'api', 'base'],
  controller: ['cache', 'queue', 'client', 'api', 'base'],
  verbs: ['controller', 'cache', 'queue', 'client', 'api', 'base'],
  manager: ['verbs', 'controller', 'cache', 'webhook', 'client', 'api', 'base'],
  plane: [
    'manager',
    'verbs',
    'controller',
    'cache',
    'webhook',
    'client',
    'server',
    'queue',
    'store',
    'wire',
    'api',
    'base',
  ],
  public: [
    'testing',
    'plane',
    'manager',
    'verbs',
    'controller',
    'cache',
    'webhook',
    'client',
    'server',
    'queue',
    'store',
    'wire',
    'kinds',
    'api',
    'base',
  ],
  testing: [
    'plane',
    'manager',
    'verbs',
    'controller',
    'cache',
    'webhook',
    'client',
    'server',
    'queue',
    'store',
    'wire',
    'api',
    'base',
  ],
}

/** The package of the built-in kinds stands between two layers: it sees api through one entry, and only server uses it. */
export const builtinsPackage = {
  home: 'packages/builtins',
  name: '@evenkeel/builtins',
  sees: 'evenkeel/unstable/builtins',
  usedBy: 'server',
} as const

/** What the judge may see of the library: enough to read objects, to try our own client, to drive a store, to evaluate expressions, and to start our own server. */
export const judgeImports: readonly string[] = [
  '@evenkeel/cel',
  'evenkeel',
  'evenkeel/client',
  'evenkeel/kinds/core/v1',
  'evenkeel/server',
  'evenkeel/unstable/store',
  'evenkeel/unstable/base',
  'evenkeel/unstable/cache',
]

/** Published cases that the judge runs. */
export const judgeData: readonly string[] = ['@bufbuild/cel-spec']

/** Clients that the judge tries on a server; they see it as anybody does. */
export const judgedClients: readonly string[] = ['@kubernetes/client-node', 'client-node-2', 'kubernetes-fluent-client']

/** Folders whose files are checked. */
export const checkedFolders: readonly string[] = ['packages', 'bench', 'tools', 'examples']

/** Names that say nothing about what is inside. */
export const emptyNames = /^(?:common|(?:.+-)?(?:utils?|helpers?|misc))$/

/** The same for files: a folder `report/` may hold reports, a file `report.ts` is one of five. */
export const emptyFileNames = /^(?:options|view|report)$/

/** Files whose default export another tool asks for. */
export const defaultExports: readonly string[] = [
  'tools/test-counter.mjs',
  'tools/mutate/runner.ts',
  'tools/mutate/vitest.config.ts',
]

/** Files that load modules of users, whose names are not known in advance. */
export const computedImports: readonly string[] = [
  'packages/cli/src/modules.ts',
  'packages/evenkeel/src/testing/explore-module.ts',
]

/**
 * Files that only one other file imports and that stay files of their own, each with the reason. A file with a test of
 * its own needs no entry, and neither does one that would not fit into its importer.
 */
export const ownReason: readonly (readonly [file: RegExp, reason: string])[] = [
  [/^packages\/builtins\/src\/(?:[a-z]+\/)?[a-z-]+\.ts$/, 'one file per family of kinds; a table lists them'],
  [/\/server\/handlers\/[a-z-]+\.ts$/, 'one file per verb; a table lists them'],
  [/\/testing\/rules\/[a-z-]+\.ts$/, 'one file per group of golden rules; the registry lists them'],
  [/\/server\/admission\/[a-z-]*plugins\.ts$/, 'the order of the plugins, and the plugins of one sort'],
  [/\/manager\/election\/forwarded-credential\.ts$/, 'used by a thread, whose entry evaluates it at its top'],
  [/\/server\/auth\/static-tokens\.ts$/, 'one authenticator, one file'],
]
