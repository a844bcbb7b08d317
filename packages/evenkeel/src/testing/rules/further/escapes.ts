/**
 * Nothing leaves the simulation: time, chance, the network and the world outside come through what a program is given.
 */
import { basename } from 'node:path'
import type { Rule } from '../finding.ts'

export const escapes: Rule = {
  code: 'escape',
  says: 'take time and chance from the context, and reach the world outside through what you are given',
  watch: (world) => ({
    quiet({ isLast }) {
      if (!isLast) return
      for (const { what, origin } of world.escapes) {
        world.addFinding({
          rule: 'escape',
          severity: 'error',
          about: what,
          message: `${what} at ${basename(origin)} leaves the simulation: what it does is not controlled, and not the same twice`,
          hint: hints[what] ?? 'reach the world outside through the services of the scenario',
        })
      }
    },
  }),
}

const hints: Readonly<Record<string, string>> = {
  'a timer': 'return { afterMs } or use sleep with context.clock',
  setTimeout: 'return { afterMs } or use sleep with context.clock',
  setInterval: 'return { afterMs }',
  setImmediate: 'use context.clock.soon',
  Date: 'use context.clock.now()',
  'Math.random': 'use context.random',
  'process.exit': 'throw an error: the runtime decides what follows',
}
