/**
 * A control plane as a fixture of a test runner: started when a test asks for it, stopped when the test is over.
 *
 * @example
 * const test = baseTest.extend({ plane: planeFixture({ controllers: [website], simulated: true }) })
 * test('a website gets its deployment', async ({ plane }) => { … })
 *
 * Nothing of a runner is imported: any whose fixtures are functions of a context and a `use` will do.
 */
import { startTestPlane } from './test-plane.ts'
import type { TestPlane, TestPlaneOptions } from './test-plane.ts'

/** @param options the same for every test, or made anew for each of them */
export function planeFixture(
  options: TestPlaneOptions | (() => TestPlaneOptions) = {},
): (context: object, use: (plane: TestPlane) => Promise<void>) => Promise<void> {
  // Runners read which other fixtures are wanted from the pattern of the first parameter.
  return async ({}, use) => {
    const plane = await startTestPlane(typeof options === 'function' ? options() : options)
    try {
      await use(plane)
    } finally {
      await plane.stop()
    }
  }
}
