import { describe, expect, test } from 'vitest'
import { defineKind } from '#api'
import type { ControllerDeclaration } from '#controller'
import { explore } from './explore.ts'
import type { Failure } from './failures.ts'
import type { ProcessContext, UserStep } from './scenario.ts'

const Box = defineKind({
  group: 'test.dev',
  version: 'v1',
  kind: 'Box',
  spec: { type: 'object', properties: { size: { type: 'integer' } } },
  status: { type: 'object', properties: { stored: { type: 'string' } } },
})
type Reconcile = NonNullable<ControllerDeclaration<typeof Box>['reconcile']>

const steps: readonly UserStep[] = [
  {
    name: 'creates Box a',
    run: (user) => user.create(Box, { metadata: { name: 'a', namespace: 'default' }, spec: { size: 1 } }),
  },
]

/** Globals of the machine under other names: a program should not use them. */
type Taken = Readonly<Record<string, ((...parameters: unknown[]) => unknown) | undefined>>
const machine = globalThis as unknown as Taken
const clock = new Proxy(
  {},
  { get: (_, name) => Reflect.get(Reflect.get(globalThis, 'Date') as object, name) as unknown },
) as Taken
const chance = Math as unknown as Taken

/** The failures of a program with this reconcile in the undisturbed schedule. */
async function reported(reconcile: Reconcile, more: { tier?: 0 | 1 } = {}): Promise<readonly Failure[]> {
  const controllers = (_: ProcessContext<object>): ControllerDeclaration[] => [
    { for: Box, reconcile } as unknown as ControllerDeclaration,
  ]
  return (await explore({ controllers, scenario: { name: 'boxes', steps }, tier: 0, ...more })).failures
}

describe('explore explains', () => {
  test('a program that never becomes quiet', async () => {
    let count = 0
    const failures = await reported((_, { status }) => {
      status.set({ stored: String(++count) })
      return { afterMs: 1000 }
    })
    expect(failures.map(({ rule, message }) => `${rule}: ${message}`)).toContainEqual(
      expect.stringMatching(/^hot-loop: a reconcile keeps triggering itself: it writes a different value each time/),
    )
  })

  test('system timers, system time and Math.random, with their place in the code', async () => {
    const failures = await reported(async (_, { status }) => {
      await new Promise((resolve) => {
        machine['setTimeout']?.(resolve, 50)
      })
      status.set({ stored: `${typeof clock['now']?.()} ${typeof chance['random']?.()}` })
    })
    const escapes = failures.filter(({ rule }) => rule === 'escape')
    expect(escapes.map(({ about }) => about).sort()).toEqual(['Date', 'Math.random', 'setTimeout'])
    for (const { message } of escapes)
      expect(message).toMatch(/ at explore-input\.test\.ts:\d+ bypasses the simulation/)
  })

  test('a program that ends the process', async () => {
    const failures = await reported(() => {
      process.exit(3)
    })
    expect(failures.map(({ rule, message }) => `${rule}: ${message}`)).toContainEqual(
      expect.stringMatching(
        /^failure: process A exits: process\.exit\(3\) was called \(.*explore-input\.test\.ts:\d+\)$/,
      ),
    )
  })

  test('a reconcile that always throws', async () => {
    const failures = await reported(() => {
      throw new Error('no such region')
    })
    expect(failures.map(({ rule, message }) => `${rule}: ${message}`)).toContainEqual(
      expect.stringMatching(
        /^failure: a reconcile keeps failing for \d+ minutes without a new fault: no such region \(.*test\.ts:\d+\)$/,
      ),
    )
  })

  test('a promise that is not awaited', async () => {
    const failures = await reported(() => {
      void Promise.reject(new Error('not awaited'))
    })
    expect(failures.map(({ rule, message }) => `${rule}: ${message}`)).toContainEqual(
      expect.stringMatching(/^failure: unhandled rejection: not awaited \(.*explore-input\.test\.ts:\d+\)$/),
    )
  })

  test('a factory that throws', async () => {
    const controllers = (): ControllerDeclaration[] => {
      throw new Error('no configuration')
    }
    await expect(explore({ controllers, scenario: { name: 'boxes', steps } })).rejects.toThrow(
      'the factory of the program throws: no configuration',
    )
  })
})
