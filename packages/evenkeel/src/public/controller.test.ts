import { expect, test } from 'vitest'
import { z } from 'zod'
import {
  and,
  annotationsChanged,
  defineController,
  enqueueMapped,
  enqueueOwner,
  enqueueSelf,
  generationChanged,
  isRunAborted,
  isStopReconcile,
  isTerminalError,
  labelsChanged,
  not,
  onUpdate,
  or,
  resourceVersionChanged,
  RunAborted,
  StopReconcile,
  TerminalError,
  watching,
  type CleanupStep,
  type ControllerDeclaration,
  type ControllerHealth,
  type EventHandler,
  type ManagedContext,
  type Predicate,
  type ReconcileResult,
  type RunCause,
  type Source,
  type WatchDeclaration,
} from './controller.ts'
import { defineKind, setControllerReference, type ObjectOf } from './index.ts'
import { startTestPlane } from './testing.ts'

const Job = defineKind({
  group: 'demo.example.com',
  version: 'v1',
  kind: 'Job',
  spec: z.object({ size: z.number().int() }),
  status: z.object({ runs: z.number() }),
})
const Part = defineKind({
  group: 'demo.example.com',
  version: 'v1',
  kind: 'Part',
  spec: z.object({ job: z.string() }),
})
type JobObject = ObjectOf<typeof Job>

const key = { name: 'a', namespace: 'default' }
const job = { metadata: key, spec: { size: 1 } }

test('predicates tell updates apart by what changed', async () => {
  const events: Parameters<Predicate>[0][] = []
  const record: Predicate = (event) => {
    events.push(event)
    return true
  }
  const jobs = defineController({ for: Job, predicates: [record], reconcile: () => undefined })
  await using plane = await startTestPlane({ controllers: [jobs], simulated: true, builtin: false })
  const { client } = plane
  let stored = await client.create(Job, job)
  for (const patch of [
    { spec: { size: 2 } },
    { metadata: { labels: { a: 'b' } } },
    { metadata: { annotations: { a: 'b' } } },
  ]) {
    await plane.until(() => events.at(-1)?.resourceVersion === stored.metadata.resourceVersion)
    stored = (await client.patch(stored, patch)) ?? stored
  }
  await plane.until(() => events.length === 4)

  const sizeGrew = onUpdate<JobObject>((old, object) => object.spec.size > old.spec.size) as Predicate
  const updates = events.filter(({ type }) => type === 'update')
  const passed = (predicate: Predicate): boolean[] => updates.map((event) => predicate(event))
  // spec, labels, annotations
  expect(passed(generationChanged)).toEqual([true, false, false])
  expect(passed(labelsChanged)).toEqual([false, true, false])
  expect(passed(annotationsChanged)).toEqual([false, false, true])
  expect(passed(resourceVersionChanged)).toEqual([true, true, true])
  expect(passed(sizeGrew)).toEqual([true, false, false])
  expect(passed(or(generationChanged, labelsChanged))).toEqual([true, true, false])
  expect(passed(and(resourceVersionChanged, not(labelsChanged)))).toEqual([true, false, true])
})

test('handlers say whom a change concerns: itself, its owner, or whom a function names', async () => {
  const causes: (readonly RunCause[])[] = []
  const byLabel: EventHandler = ({ object }) => {
    const name = object.metadata.labels?.['notify']
    return name === undefined ? [] : [{ name, namespace: 'default' }]
  }
  const owned: WatchDeclaration = { kind: Part, enqueue: enqueueOwner(Job), predicates: [resourceVersionChanged] }
  const jobs = defineController({
    for: Job,
    watches: [
      owned,
      { kind: Part, enqueue: byLabel },
      { kind: Part, enqueue: enqueueSelf },
      watching(Part, { map: ({ spec }) => [{ name: spec.job, namespace: 'default' }] }),
      { kind: Part, enqueue: enqueueMapped(() => []) },
    ],
    reconcileKey(at, context) {
      causes.push(context.causes)
      keys.push(at.name)
    },
  })
  const keys: string[] = []
  await using plane = await startTestPlane({ kinds: [Part], controllers: [jobs], simulated: true, builtin: false })
  const owner = await plane.client.create(Job, { ...job, metadata: { ...key, name: 'owner' } })
  await plane.until(() => keys.includes('owner'))
  const part = {
    apiVersion: 'demo.example.com/v1',
    kind: 'Part',
    metadata: { name: 'self', namespace: 'default', labels: { notify: 'labelled' } },
    spec: { job: 'mapped' },
  }
  keys.length = 0
  await plane.client.create(Part, setControllerReference(owner, part))
  await plane.until(() => keys.length >= 4)
  expect(keys.sort()).toEqual(['labelled', 'mapped', 'owner', 'self'])
  expect(causes.at(-1)?.[0]).toMatchObject({ source: expect.stringContaining('Part') as string })
})

test('a source of your own enqueues keys', async () => {
  let enqueue: ((name: string) => void) | undefined
  const bell: Source = {
    name: 'bell',
    start(context) {
      enqueue = (name) => {
        context.enqueue({ name, namespace: 'default' }, { type: 'event', source: 'bell', note: 'it rang' })
      }
      return {
        name: 'bell',
        hasSynced: true,
        problem: undefined,
        waitForSync: () => Promise.resolve(),
        stop: () => Promise.resolve(),
      }
    },
  }
  const notes: (string | undefined)[] = []
  const jobs = defineController({
    for: Job,
    sources: [bell],
    reconcileKey: (_, { causes }) => void notes.push(...causes.map(({ note }) => note)),
  })
  await using plane = await startTestPlane({ controllers: [jobs], simulated: true, builtin: false })
  await plane.until(() => enqueue !== undefined)
  enqueue?.('a')
  await plane.until(() => notes.includes('it rang'))
})

test('a TerminalError is not retried, a StopReconcile is no failure', async () => {
  const runs: string[] = []
  const check = ({ metadata: { name }, spec: { size } }: JobObject): void => {
    runs.push(name ?? '')
    if (size < 0) throw new TerminalError('spec.size must not be negative')
    if (size > 9) throw new StopReconcile('waits for space', { result: { afterMs: 60_000 } satisfies ReconcileResult })
  }
  const jobs: ControllerDeclaration<typeof Job, ManagedContext> = {
    for: Job,
    reconcile(object, { status }) {
      try {
        check(object)
      } catch (error) {
        status.condition('Accepted', false, { reason: isTerminalError(error) ? 'Refused' : 'Waiting' })
        status.set({ runs: isStopReconcile(error) ? 1 : 0 })
        throw error
      }
    },
  }
  await using plane = await startTestPlane({ controllers: [jobs], simulated: true, builtin: false })
  const { client } = plane
  for (const [name, size] of [
    ['bad', -1],
    ['big', 10],
  ] as const)
    await client.create(Job, { metadata: { ...key, name }, spec: { size } })
  await plane.advance(59_000)
  const reasonOf = async (name: string): Promise<string | undefined> =>
    (await client.get(Job, { ...key, name })).status?.conditions?.[0]?.reason
  expect([await reasonOf('bad'), await reasonOf('big')]).toEqual(['Refused', 'Waiting'])
  const health: ControllerHealth | undefined = plane.manager?.controllers[0]?.health
  expect([health?.isReady, health?.queue.waiting]).toEqual([true, expect.any(Number)])
  const before = runs.filter((name) => name === 'big').length
  await plane.advance(3_600_000)
  expect(runs.filter((name) => name === 'bad').length).toBeLessThanOrEqual(2)
  expect(runs.filter((name) => name === 'big').length).toBeGreaterThanOrEqual(before + 59)
})

test('a run that takes too long is aborted with the reason', async () => {
  const reasons: unknown[] = []
  const jobs = defineController({
    for: Job,
    timeoutMs: 5000,
    reconcile: (_, { signal }) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          reasons.push(signal.reason)
          resolve(undefined)
        })
      }),
  })
  await using plane = await startTestPlane({ controllers: [jobs], simulated: true, builtin: false })
  await plane.client.create(Job, job)
  await plane.until(() => reasons.length > 0)
  expect(reasons[0]).toBeInstanceOf(RunAborted)
  expect(reasons.map((reason) => isRunAborted(reason) && reason.abortReason)).toEqual(['timeout'])
})

test('steps of a cleanup run in order, each behind its own finalizer', async () => {
  const done: string[] = []
  const step = (name: string): CleanupStep<typeof Job, ManagedContext> => ({
    finalizer: `demo.example.com/${name}`,
    cleanup: ({ metadata }) => void done.push(`${name} of ${metadata.name}`),
  })
  const jobs = defineController({ for: Job, cleanup: [step('files'), step('bucket')], reconcile: () => undefined })
  await using plane = await startTestPlane({ controllers: [jobs], simulated: true, builtin: false })
  const stored = await plane.client.create(Job, job)
  await plane.until(async () => (await plane.client.get(Job, key)).metadata.finalizers?.length === 2)
  await plane.client.delete(stored)
  await plane.until(async () => (await plane.client.find(Job, key)) === undefined)
  expect(done).toEqual(['files of a', 'bucket of a'])
})
