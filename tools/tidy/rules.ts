/**
 * The house rules as data: sizes, names, layers, and allowed imports.
 *
 * Explain every change of a rule in docs/decisions (docs/decisions/layout.md explains the numbers).
 */

/** Sizes. Lines include comments. */
export const limits = {
  fileLines: 400,
  /** Tests, fixtures and tables of cases: the formatter gives each entry of a table its own lines. */
  caseLines: 800,
  functionLines: 60,
  /** One long test, or one case. */
  caseFunctionLines: 100,
  parameters: 3,
  folderFiles: 40,
  /** Folders below the layer, or below `src` of another package. */
  folderDepth: 3,
} as const

/** Files of cases, and generated lists: their length depends on the list. */
export const caseFiles =
  /\.(?:test|fixture)\.ts$|^packages\/evenkeel\/src\/kinds\/generated\/|^packages\/conformance\/src\/.*\/cases\/|^tools\/tidy\/samples\.ts$/

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

/** The package of the built-in kinds is between two layers: it imports api through one entry; only two layers use it. */
export const builtinsPackage = {
  home: 'packages/builtins',
  name: '@evenkeel/builtins',
  sees: 'evenkeel/unstable/builtins',
  usedBy: ['server', 'kinds'],
} as const

/** The parts of the library that the conformance suite may use. */
export const judgeImports: readonly string[] = [
  '@evenkeel/cel',
  'evenkeel',
  'evenkeel/client',
  'evenkeel/kinds/core/v1',
  'evenkeel/server',
  'evenkeel/unstable/server',
  'evenkeel/unstable/store',
  'evenkeel/unstable/base',
  'evenkeel/unstable/cache',
]

/** Starts a real container runtime for tests, in one way for all packages. */
export const podmanFixture = 'packages/workloads/src/containers/podman.fixture.ts'

/** Published cases that the conformance suite runs. */
export const judgeData: readonly string[] = ['@bufbuild/cel-spec']

/** Clients that the conformance suite tests; they use the published package. */
export const judgedClients: readonly string[] = ['@kubernetes/client-node', 'client-node-2', 'kubernetes-fluent-client']

/** The checked folders. */
export const checkedFolders: readonly string[] = ['packages', 'bench', 'tools', 'examples']

/** The packages whose log messages are checked. */
export const loggingPackages: readonly string[] = [
  'packages/evenkeel',
  'packages/cli',
  'packages/workloads',
  'packages/dcp',
]

/** Names that say nothing about the content. */
export const emptyNames = /^(?:common|(?:.+-)?(?:utils?|helpers?|misc))$/

/** The same for files: a folder `report/` may contain reports, a file `report.ts` is too vague. */
export const emptyFileNames = /^(?:options|view|report)$/

/** Files whose default export another tool requires. */
export const defaultExports: readonly string[] = [
  'tools/test-counter.mjs',
  'tools/test-progress.mjs',
  'tools/mutate/runner.ts',
  'tools/mutate/vitest.config.ts',
]

/** Programs that are read and loaded by their path: their exports need no importer. */
export const loadedByPath: RegExp = /^packages\/mutants\/src\/right\/[a-z]+\//

/** Files that load modules whose names are not known in advance. */
export const computedImports: readonly string[] = [
  'packages/mutants/src/generate/modules.ts',
  'packages/cli/src/modules.ts',
  'packages/evenkeel/src/plane/program.ts',
]

/** Public entries that extend another library when they are imported: they cannot only re-export. */
export const extendingEntries: readonly string[] = ['packages/evenkeel/src/public/testing/vitest.ts']

/**
 * Files with only one importer that stay separate, each with the reason. A file with its own
 * test needs no entry, and neither does one that would not fit into its importer.
 */
export const ownReason: readonly (readonly [file: RegExp, reason: string])[] = [
  [/^packages\/builtins\/src\/(?:[a-z]+\/)?[a-z-]+\.ts$/, 'one file per family of kinds; a table lists them'],
  [/\/server\/handlers\/[a-z-]+\.ts$/, 'one file per verb; a table lists them'],
  [/\/testing\/rules\/[a-z-]+\.ts$/, 'one file per group of golden rules; the registry lists them'],
  [/\/server\/admission\/[a-z-]*plugins\.ts$/, 'the order of the plugins, and the plugins of one sort'],
  [/\/server\/admission\/plugins\/[a-z-]+\.ts$/, 'one admission plugin of kube-apiserver, or one level of checks'],
  [/\/manager\/election\/forwarded-credential\.ts$/, 'used by a thread, whose entry evaluates it at its top'],
  [/\/client\/proxy-connections\.ts$/, 'the only user of undici'],
  [/\/server\/auth\/static-tokens\.ts$/, 'one authenticator, one file'],
]
