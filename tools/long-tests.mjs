/**
 * Tests that `npm test` leaves to `npm run test:all`: long explorations, whole suites on a second store or transport, the
 * packed packages, programs in processes of their own, and loops with thousands of repetitions. Each layer keeps its own tests in `npm test`; CI runs all.
 */
export const longTests = [
  'packages/evenkeel/src/testing/explored/**/*.test.ts',
  'packages/evenkeel/src/testing/explore.test.ts',
  'packages/evenkeel/src/testing/pairs.test.ts',
  'packages/evenkeel/src/testing/swarm.test.ts',
  'packages/evenkeel/src/testing/workers.test.ts',
  'packages/evenkeel/src/testing/determinism.test.ts',
  'packages/mutants/**/*.test.ts',
  'examples/*/explored*.test.ts',
  'examples/shapes/**/*.test.ts',
  'examples/app-route/**/*.test.ts',
  'examples/operators/programs.test.ts',
  'packages/conformance/src/server/on-etcd.test.ts',
  'packages/conformance/src/server/on-large-writes.test.ts',
  'packages/evenkeel/src/plane/survival/**/*.test.ts',
  'packages/cli/src/commands/explore.test.ts',
  'tools/attack.test.ts',
  'tools/ensure.test.ts',
  'tools/docs-run.test.ts',
  'packages/cli/src/commands/program.test.ts',
  'packages/cli/src/commands/serve.test.ts',
  'packages/conformance/src/store.test.ts',
  'examples/application-namespace/application-namespace.test.ts',
  'examples/hello/app.test.ts',
  'tools/package.test.ts',
  'tools/tutorial.test.ts',
  'packages/conformance/src/clients/kubectl/kubectl.test.ts',
  'packages/conformance/src/server/on-https.test.ts',
  'packages/conformance/src/server/on-files.test.ts',
]
