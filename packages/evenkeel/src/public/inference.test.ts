/**
 * Types follow from the kind: no annotation and no cast, wherever controllers are given.
 */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineController, defineKind, runControllers } from './index.ts'
import { explore, startTestPlane } from './testing.ts'

const Greeting = defineKind({
  group: 'test.dev',
  version: 'v1',
  kind: 'Greeting',
  spec: z.object({ who: z.string() }),
  status: z.object({ text: z.string() }),
})

const greetings = defineController({
  for: Greeting,
  reconcile(greeting, { status }) {
    const who: string = greeting.spec.who
    status.set({ text: `Hello, ${who}!` })
  },
})

const scenario = {
  name: 'greets',
  steps: [],
}

test('a declaration that cannot work is refused where it is written', () => {
  expect(() => defineController({ for: Greeting })).toThrow('greeting')
  // @ts-expect-error the spec has no such field
  expect(defineController({ for: Greeting, reconcile: ({ spec }) => void spec.whom }).for).toBe(Greeting)
  // @ts-expect-error the status has no such field
  expect(defineController({ for: Greeting, reconcile: (_, { status }) => status.set({ words: 1 }) }).for).toBe(Greeting)
})

test('explore knows the kinds of inline, defined and made controllers', async () => {
  const inline = await explore({
    controllers: [{ for: Greeting, reconcile: ({ spec }, { status }) => status.set({ text: spec.who.trim() }) }],
    scenario,
    tier: 0,
  })
  const defined = await explore({ controllers: [greetings], scenario, tier: 0 })
  const made = await explore({ controllers: () => [greetings], scenario, tier: 0 })
  expect([inline, defined, made].map(({ failures }) => failures)).toEqual([[], [], []])
})

test('startTestPlane and runControllers know them as well', async () => {
  await using plane = await startTestPlane({
    controllers: [greetings, { for: Greeting, name: 'other', reconcile: ({ spec }) => void spec.who.length }],
    simulated: true,
  })
  await plane.client.create(Greeting, { metadata: { name: 'a' }, spec: { who: 'world' } })
  await plane.until(async () => (await plane.client.get(Greeting, { name: 'a' })).status?.text === 'Hello, world!')
  await runControllers(AbortSignal.abort(), { controllers: [greetings], embedded: true }).catch(() => undefined)
})
