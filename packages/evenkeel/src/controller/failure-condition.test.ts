import { expect, test } from 'vitest'
import { defineKind, findCondition, type KubeObject } from '#api'
import { SimulatedClock } from '#base'
import { TerminalError } from './errors.ts'
import { FailureCondition } from './failure-condition.ts'
import { StatusWriter } from './status.ts'
import { World } from './world.fixture.ts'

const Thing = defineKind({
  group: 'test.dev',
  version: 'v1',
  kind: 'Thing',
  spec: { type: 'object', properties: {} },
  status: { type: 'object', properties: {} },
} as const)
const Plain = defineKind({
  group: 'test.dev',
  version: 'v1',
  kind: 'Plain',
  spec: { type: 'object', properties: {} },
} as const)

const failed = [
  {
    type: 'Ready',
    status: 'False',
    reason: 'ReconcileError',
    message: 'x',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  },
]

function writerFor(conditions: readonly object[] = []): { object: KubeObject; status: StatusWriter<never> } {
  const object = {
    apiVersion: 'test.dev/v1',
    kind: 'Thing',
    metadata: { name: 'a', generation: 3 },
    status: { conditions },
  } as KubeObject
  return { object, status: new StatusWriter<never>({ object, clock: new SimulatedClock(), hasStatus: true }) }
}

function readyOf({ object, status }: ReturnType<typeof writerFor>): unknown {
  const current = (object as unknown as { status: never }).status
  const { conditions } = status.next(current, { without: new Set() }) as { conditions?: never }
  return findCondition(conditions, 'Ready')
}

test('F1: FailureCondition makes an object unready, with the message and the line', () => {
  const writer = writerFor()
  new FailureCondition(Thing).report(new Error('no such host'), writer)
  expect(readyOf(writer)).toMatchObject({
    status: 'False',
    reason: 'ReconcileError',
    observedGeneration: 3,
    message: expect.stringMatching(/^no such host \(\S*failure-condition\.test\.ts:\d+\)$/) as string,
  })
})

test('F1: FailureCondition leaves a condition of the author alone', () => {
  const writer = writerFor()
  writer.status.condition('Ready', false, { reason: 'NoTheme' })
  new FailureCondition(Thing).report(new Error('no such host'), writer)
  expect(readyOf(writer)).toMatchObject({ reason: 'NoTheme' })
})

test('F1: FailureCondition goes with the first run that succeeds', () => {
  const silent = writerFor(failed)
  new FailureCondition(Thing).clear(silent)
  expect(readyOf(silent)).toBeUndefined()
  const talking = writerFor(failed)
  talking.status.condition('Ready', true)
  new FailureCondition(Thing).clear(talking)
  expect(readyOf(talking)).toMatchObject({ status: 'True' })
  const others = writerFor([{ ...failed[0], reason: 'NoTheme' }])
  new FailureCondition(Thing).clear(others)
  expect(others.status.isTouched).toBe(false)
})

test('F1: the failure of a program that reports no status leaves no status behind', () => {
  const [failing, recovered] = [writerFor(), writerFor(failed)]
  new FailureCondition(Thing).report(new Error('no such host'), failing)
  new FailureCondition(Thing).clear(recovered)
  expect(failing.status.next({}, { without: new Set() })).not.toHaveProperty('observedGeneration')
  expect(recovered.status.next({ conditions: failed }, { without: new Set() })).toEqual({})
  const reporting = writerFor()
  new FailureCondition(Thing).report(new Error('no such host'), reporting)
  expect(reporting.status.next({ observedGeneration: 2 }, { without: new Set() })).toMatchObject({
    observedGeneration: 3,
  })
})

test('F1: FailureCondition writes nothing for kinds without conditions', () => {
  const writer = writerFor()
  new FailureCondition(Plain).report(new Error('no such host'), writer)
  expect(writer.status.isTouched).toBe(false)
})

test('F1: a terminal error makes an object unready at once, and one with a new message each time does not loop', async () => {
  const world = new World({ kinds: [Thing] })
  let runs = 0
  await world.start({
    for: Thing,
    reconcile: () => {
      throw new TerminalError(`refused, number ${++runs}`)
    },
  })
  world.api.put(Thing, 'one', { spec: {} })
  await world.clock.advance(3_600_000)
  const ready = (): unknown => {
    const { conditions } = world.api.find(Thing, 'one')?.status as { conditions: never }
    return findCondition(conditions, 'Ready')
  }
  const message = (number: number): unknown =>
    expect.stringMatching(new RegExp(`^refused, number ${number} \\(\\S*failure-condition\\.test\\.ts:\\d+\\)$`))
  expect(ready()).toMatchObject({ status: 'False', reason: 'ReconcileError', message: message(1) })
  expect(world.api.writes).toEqual(['patch Thing/status a/one'])
  // The status that was written is observed once more.
  expect(runs).toBe(2)
  world.api.put(Thing, 'one', { spec: { size: 1 } })
  await world.clock.advance(0)
  expect(ready()).toMatchObject({ observedGeneration: 2, message: message(3) })
  await world.stop()
})

test('F1: an ordinary error makes an object unready from the second failure on', async () => {
  const world = new World({ kinds: [Thing] })
  await world.start({
    for: Thing,
    backoff: { jitter: 0, baseMs: 1000 },
    reconcile: () => {
      throw new Error('no such host')
    },
  })
  world.api.put(Thing, 'one', { spec: {} })
  await world.clock.advance(999)
  expect(world.api.find(Thing, 'one')?.status).toBeUndefined()
  await world.clock.advance(1)
  expect(world.api.find(Thing, 'one')?.status).toMatchObject({ conditions: [{ reason: 'ReconcileError' }] })
  await world.stop()
})
