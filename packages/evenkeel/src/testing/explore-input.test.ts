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

/** The machine's own, under names that do not stand out: what a program should not take. */
type Taken = Readonly<Record<string, ((...parameters: unknown[]) => unknown) | undefined>>
const machine = globalThis as unknown as Taken
const clock = new Proxy(
  {},
  { get: (_, name) => Reflect.get(Reflect.get(globalThis, 'Date') as object, name) as unknown },
) as Taken
const chance = Math as unknown as Taken

/** What a program that does this is told, undisturbed. */
async function told(reconcile: Reconcile, more: { tier?: 0 | 1 } = {}): Promise<readonly Failure[]> {
  const controllers = (_: ProcessContext<object>): ControllerDeclaration[] => [
    { for: Box, reconcile } as unknown as ControllerDeclaration,
  ]
  return (await explore({ controllers, scenario: { name: 'boxes', steps }, tier: 0, ...more })).failures
}

describe('explore explains', () => {
  test('a program that never rests', async () => {
    let count = 0
    const failures = await told((_, { status }) => {
      status.set({ stored: String(++count) })
      return { afterMs: 1000 }
    })
    expect(failures.map(({ rule, message }) => `${rule}: ${message}`)).toContainEqual(
      expect.stringMatching(/^hot-loop: a reconcile keeps causing itself: it writes something different each time/),
    )
  })

  test('real timers, real time and real chance, with the place that takes them', async () => {
    const failures = await told(async (_, { status }) => {
      await new Promise((resolve) => {
        machine['setTimeout']?.(resolve, 50)
      })
      status.set({ stored: `${typeof clock['now']?.()} ${typeof chance['random']?.()}` })
    })
    const escapes = failures.filter(({ rule }) => rule === 'escape')
    expect(escapes.map(({ about }) => about).sort()).toEqual(['Date', 'Math.random', 'setTimeout'])
    for (const { message } of escapes) expect(message).toMatch(/ at explore-input\.test\.ts:\d+ leaves the simulation/)
  })

  test('a program that ends the process', async () => {
    const failures = await told(() => {
      process.exit(3)
    })
    expect(failures.map(({ rule, message }) => `${rule}: ${message}`)).toContain(
      'failure: the program ended by itself in life A: process.exit(3) was called',
    )
  })

  test('a reconcile that always throws', async () => {
    const failures = await told(() => {
      throw new Error('no such region')
    })
    expect(failures.map(({ rule, message }) => `${rule}: ${message}`)).toContainEqual(
      expect.stringMatching(
        /^failure: a reconcile keeps failing, \d+ minutes after everything was well: no such region$/,
      ),
    )
  })

  test('a promise that nobody listens to', async () => {
    const failures = await told(() => {
      void Promise.reject(new Error('nobody hears'))
    })
    expect(failures.map(({ rule, message }) => `${rule}: ${message}`)).toContain(
      'failure: a promise was rejected and nobody listened: nobody hears',
    )
  })

  test('a factory that throws', async () => {
    const controllers = (): ControllerDeclaration[] => {
      throw new Error('no configuration')
    }
    await expect(explore({ controllers, scenario: { name: 'boxes', steps } })).rejects.toThrow(
      'the program cannot be made: its factory throws: no configuration',
    )
  })
})
