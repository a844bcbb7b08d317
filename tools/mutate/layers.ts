/**
 * The nearest tests of a layer: its own, those of the layers directly above, and the conformance cases.
 */
const src = 'packages/evenkeel/src'
const own = (layer: string): string => `${src}/${layer}/**/*.test.ts`
const builtinTests = 'packages/builtins/src/**/*.test.ts'

/** Files of a layer, as folders of the repository. */
export const layerFolders: Readonly<Record<string, string>> = {
  base: `${src}/base`,
  cel: 'packages/cel/src',
  api: `${src}/api`,
  builtins: 'packages/builtins/src',
  wire: `${src}/wire`,
  store: `${src}/store`,
  queue: `${src}/queue`,
  server: `${src}/server`,
  client: `${src}/client`,
  webhook: `${src}/webhook`,
  cache: `${src}/cache`,
  controller: `${src}/controller`,
  verbs: `${src}/verbs`,
  manager: `${src}/manager`,
  plane: `${src}/plane`,
}

const judges = {
  server: 'packages/conformance/src/server/on-memory.test.ts',
  plane: 'packages/conformance/src/server/on-plane.test.ts',
  store: 'packages/conformance/src/store.test.ts',
  ownClient: 'packages/conformance/src/clients/own/**/*.test.ts',
}

/** Test files by glob. */
export const nearestTests: Readonly<Record<string, readonly string[]>> = {
  base: [own('base'), own('queue'), own('cache')],
  cel: ['packages/cel/src/**/*.test.ts', `${src}/api/{rules,admission,schema}/**/*.test.ts`],
  api: [own('api'), builtinTests, judges.server],
  builtins: [builtinTests, judges.server],
  wire: [own('wire'), own('client'), judges.server],
  store: [own('store'), judges.store],
  queue: [own('queue'), own('controller')],
  server: [own('server'), judges.server, judges.plane],
  client: [own('client'), judges.ownClient],
  webhook: [own('webhook')],
  cache: [own('cache'), own('controller'), judges.ownClient],
  controller: [own('controller'), own('manager'), `${src}/plane/*.test.ts`],
  verbs: [own('verbs'), `${src}/testing/explored/{children,depends,action,cleanup,external}*.test.ts`],
  manager: [own('manager'), `${src}/plane/*.test.ts`],
  plane: [own('plane'), judges.plane],
}
