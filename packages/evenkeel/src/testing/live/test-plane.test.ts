import { afterEach, describe, expect, test, vi } from 'vitest'
import { declareKind, defineKind, type KubeObject } from '#api'
import { createLogger, SystemClock, type LogRecord } from '#base'
import type { ControllerDeclaration } from '#controller'
import { startTestPlane, type TestPlane } from './test-plane.ts'

interface Settings extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

interface Note extends KubeObject {
  readonly reason?: string
  readonly note?: string
  readonly series?: { readonly count?: number }
}

const ConfigMap = declareKind<Settings>({ group: '', version: 'v1', kind: 'ConfigMap', statusSubresource: false })
const Event = declareKind<Note>({ group: 'events.k8s.io', version: 'v1', kind: 'Event', statusSubresource: false })

const failing: ControllerDeclaration<typeof ConfigMap> = {
  for: ConfigMap,
  namespaces: ['default'],
  reconcile: (settings) => {
    const { data } = settings as unknown as { data: { text: string } }
    data.text.trim()
  },
}

let plane: TestPlane | undefined
afterEach(async () => {
  vi.restoreAllMocks()
  await plane?.stop()
})

async function startFailing(records?: LogRecord[]): Promise<TestPlane> {
  const sink = (record: LogRecord): void => {
    records?.push(record)
  }
  const log = records && createLogger({ clock: new SystemClock(), sink })
  plane = await startTestPlane({ controllers: [failing], simulated: true, builtin: false, ...(log && { log }) })
  await plane.client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } })
  return plane
}

describe('F1: a reconcile that throws, in a test plane', () => {
  test('is printed to stderr with its line, and its stack once', async () => {
    const lines: string[] = []
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => lines.push(String(text)) > 0)
    const { until } = await startFailing()
    await until(() => lines.length > 3)
    const text = lines.join('')
    expect(text).toMatch(/error reconcile failed .*error="Cannot read .*" at=\S*test-plane\.test\.ts:25 retries=1/)
    expect(text.match(/TypeError: Cannot read/g)).toHaveLength(1)
    expect(text).toMatch(/\n +at .*test-plane\.test\.ts:25:10/)
    expect(text).not.toMatch(/afterMs=\d+\./)
  })

  test('is in the message of until', async () => {
    const { until } = await startFailing([])
    await expect(until(() => false, { timeoutMs: 500 })).rejects.toThrow(
      /condition not met within 500 ms: [\s\S]*\nthe last failures of controllers:\n {2}configmap default\/a: TypeError: Cannot read .* at \S*test-plane\.test\.ts:25 \(\d+ times\)$/,
    )
  })

  test('is a Warning event with the line, one for all failures', async () => {
    const { client, until } = await startFailing([])
    const events = async (): Promise<readonly Note[]> => (await client.list(Event, { namespace: 'default' })).items
    await until(async () => ((await events())[0]?.series?.count ?? 0) > 1)
    expect((await events()).map(({ reason, note }) => [reason, note])).toEqual([
      ['ReconcileFailed', expect.stringMatching(/^Cannot read .* \(\S*test-plane\.test\.ts:25\)$/)],
    ])
  })

  test('goes to the logger of the test instead, with all levels', async () => {
    const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    const records: LogRecord[] = []
    const { until } = await startFailing(records)
    await until(() => records.some(({ message }) => message === 'reconcile failed'))
    expect(written).not.toHaveBeenCalled()
  })
})

test('F1: a program without a status is as before when its reconcile succeeds again', async () => {
  const Thing = defineKind({
    group: 'demo.example.com',
    version: 'v1',
    kind: 'Thing',
    spec: { type: 'object', properties: {} },
    status: { type: 'object', properties: {} },
  } as const)
  let isBroken = true
  const reconcile = (): void => {
    if (isBroken) throw new Error('no such host')
  }
  const log = createLogger({ clock: new SystemClock(), sink: () => undefined })
  plane = await startTestPlane({ controllers: [{ for: Thing, reconcile }], simulated: true, builtin: false, log })
  const { client, until } = plane
  await client.create(Thing, { metadata: { name: 'a', namespace: 'default' }, spec: {} })
  const statusOf = async (): Promise<object | undefined> =>
    (await client.get(Thing, { name: 'a', namespace: 'default' })).status
  await until(async () => (await statusOf()) !== undefined)
  expect(await statusOf()).toMatchObject({ conditions: [{ type: 'Ready', reason: 'ReconcileError' }] })
  isBroken = false
  await until(async () => (await statusOf()) === undefined)
})

test('F12: startTestPlane installs all versions of a kind', async () => {
  const schema = { type: 'object', properties: { spec: { type: 'object' } } } as const
  const versions = ['v1', 'v2'].map((version) =>
    declareKind<KubeObject>({ group: 'demo.example.com', version, kind: 'Thing', schema }),
  )
  plane = await startTestPlane({ kinds: versions, simulated: true, builtin: false })
  for (const kind of versions) expect((await plane.client.list(kind, { namespace: 'default' })).items).toEqual([])
})
