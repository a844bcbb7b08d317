/**
 * `evenkeel/testing/vitest`: the matchers of the Explorer for vitest, with their types. Importing it extends `expect`.
 *
 * @example
 * import 'evenkeel/testing/vitest'
 *
 * test('websites survive every single fault', async () => {
 *   await expect({ controllers: [websites], scenario }).toKeepTheRules()
 * }, 120_000)
 */
import { expect } from 'vitest'
import { matchers } from '#testing'

declare module 'vitest' {
  // The name and the parameter are those of vitest.
  interface Matchers<T> {
    /**
     * No single fault makes the program break a golden rule. Explorations take seconds: give the test a timeout.
     *
     * @example await expect({ controllers: [websites], scenario }).toKeepTheRules()
     */
    toKeepTheRules(): Promise<void>
    /**
     * Without faults, the program reconciles without errors and becomes quiet.
     *
     * @example await expect({ controllers: [websites], scenario }).toConverge()
     */
    toConverge(): Promise<void>
  }
}

expect.extend(matchers)
