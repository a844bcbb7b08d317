/** The tool `down`, on processes of a simulated machine. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemTable, type FileObject } from '@evenkeel/workloads'
import { connect, loadConfig, type Client } from 'evenkeel/client'
import { SimulatedClock } from 'evenkeel/unstable/base'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ConnectedMcp } from '../fixtures/mcp.fixture.ts'
import { applyAll } from '../run/inventory.ts'
import { startWorkloads, type WorkloadsFolder } from '../run/run.fixture.ts'
import { writeRecord } from '../run/run-record.ts'

const apiVersion = 'workloads.evenkeel.dev/v1'
let world: WorkloadsFolder
let client: Client
let ended: (() => unknown)[]
beforeEach(async () => {
  ended = []
  world = await startWorkloads()
  client = await connect({ config: await loadConfig({ kubeconfig: kubeconfig() }), retry: false })
})
afterEach(async () => {
  for (const end of ended) await end()
  await client.close()
  await world.stop()
})

const kubeconfig = (): string => join(world.folder, 'data', 'kubeconfig')

async function open(options: Partial<Parameters<typeof ConnectedMcp.open>[0]> = {}): Promise<ConnectedMcp> {
  const made = await ConnectedMcp.open({
    cwd: world.folder,
    connect: () => Promise.resolve(client),
    allowWrites: true,
    ...options,
  })
  ended.push(() => made.close())
  return made
}

const workload = (kind: string, { name, ...place }: Place, spec: object): FileObject => ({
  file: 'evenkeel.yaml',
  line: 1,
  object: { apiVersion, kind, metadata: { name, ...place, labels: { app: name } }, spec: { ...spec } },
})

interface Place {
  readonly name: string
  /** @default that of the application */
  readonly namespace?: string
}

/** web uses db by the address of a Service; cache is persistent; stranger was not applied by a run. */
async function applyShop(...more: readonly FileObject[]): Promise<void> {
  const env = [{ name: 'DB', valueFrom: { service: { name: 'data' } } }]
  const ports = [{ name: 'sql' }]
  await applyAll(
    client,
    [
      workload('Process', { name: 'web' }, { command: ['serve', 'web'], env }),
      workload('Process', { name: 'db' }, { command: ['serve', 'db'], ports }),
      workload('Service', { name: 'data' }, { selector: { matchLabels: { app: 'db' } }, targetPort: 'sql' }),
      workload('Process', { name: 'cache' }, { command: ['serve', 'cache'], lifetime: 'Persistent' }),
      ...more,
    ],
    { namespace: 'default', signal: new AbortController().signal },
  )
  await world.apply({ stranger: { command: ['serve', 'stranger'] } })
  const { code, err } = await world.type(['wait', 'web', 'db', 'cache', 'stranger', '--for=Ready', '--timeout', '60s'])
  expect([code, err]).toEqual([0, ''])
}

const commands = (): string[] =>
  world.host
    .processes()
    .map(({ command }) => command)
    .sort()
const namesIn = (list: unknown): readonly string[] =>
  (list as readonly { kind: string; name: string }[]).map(({ kind, name }) => `${kind} ${name}`).sort()

describe('the tool down', () => {
  test('changes nothing without the name of the namespace, or as a dry run', async () => {
    await applyShop()
    const mcp = await open()
    const before = commands()
    const wrong = await mcp.call('down', { confirm: 'yes' })
    expect([wrong.isError, wrong.text]).toEqual([
      true,
      'refused: confirm is not the name of the namespace default: nothing was removed\nTry: confirm default',
    ])
    const { data } = await mcp.call('down', { confirm: 'default', dryRun: true })
    expect(namesIn(data['left'])).toEqual(['Process cache', 'Process db', 'Process web', 'Service data'])
    expect(data).toMatchObject({ namespace: 'default', removed: [], dryRun: true, next: 'nothing was changed' })
    expect(commands()).toEqual(before)
    expect(await world.type(['get', 'process/web'])).toMatchObject({ code: 0 })
  })

  test('removes what a run has applied, and nothing else; persistent ones stay on wish', async () => {
    await applyShop()
    const mcp = await open()
    const kept = await mcp.call('down', { confirm: 'default', keep: true })
    expect(namesIn(kept.data['removed'])).toEqual(['Process db', 'Process web', 'Service data'])
    expect(kept.data).toMatchObject({ isComplete: true, kept: [{ kind: 'Process', name: 'cache' }], left: [] })
    expect(commands()).toEqual(['serve cache', 'serve stranger'])
    const rest = await mcp.call('down', { confirm: 'default' })
    expect(namesIn(rest.data['removed'])).toEqual(['Process cache'])
    expect(commands()).toEqual(['serve stranger'])
    expect((await mcp.call('down', { confirm: 'default' })).data).toMatchObject({ removed: [], isComplete: true })
  })

  test('consumers go before what is behind the Service whose address they have', async () => {
    await applyShop()
    const held = await client.get({ apiVersion, kind: 'Process' }, { name: 'web', namespace: 'default' })
    const web = { ...held, apiVersion, kind: 'Process' }
    await client.patch(web, { metadata: { finalizers: [...(held.metadata.finalizers ?? []), 'test.dev/hold'] } })
    const mcp = await open()
    const down = mcp.call('down', { confirm: 'default' })
    await world.type(['wait', 'process/web', '--for=jsonpath={.metadata.deletionTimestamp}', '--timeout', '60s'])
    // What does not wait for web is gone; what web uses is not even being deleted.
    await world.type(['wait', 'process/cache', '--for=delete', '--timeout', '60s'])
    for (const [kind, name] of [
      ['Process', 'db'],
      ['Service', 'data'],
    ] as const) {
      const { metadata } = await client.get({ apiVersion, kind }, { name, namespace: 'default' })
      expect(metadata.deletionTimestamp, name).toBeUndefined()
    }
    const now = await client.get({ apiVersion, kind: 'Process' }, { name: 'web', namespace: 'default' })
    const finalizers = (now.metadata.finalizers ?? []).filter((name) => name !== 'test.dev/hold')
    await client.patch(web, { metadata: { finalizers } })
    expect((await down).data).toMatchObject({ isComplete: true, left: [] })
  })

  test('what is not gone in time is named', async () => {
    await applyShop()
    const found = await client.get({ apiVersion, kind: 'Process' }, { name: 'db', namespace: 'default' })
    const db = { ...found, apiVersion, kind: 'Process' }
    await client.patch(db, { metadata: { finalizers: [...(found.metadata.finalizers ?? []), 'test.dev/hold'] } })
    const clock = new SimulatedClock()
    const down = (await open({ clock })).call('down', { confirm: 'default', timeoutSeconds: 5 })
    for (const name of ['process/web', 'process/cache', 'service/data'])
      await world.type(['wait', name, '--for=delete', '--timeout', '60s'])
    await clock.advance(5000)
    const { data } = await down
    expect(data).toMatchObject({ isComplete: false, left: [{ kind: 'Process', name: 'db', namespace: 'default' }] })
    expect(data).not.toHaveProperty('endedRun')
    await client.patch(db, { metadata: { finalizers: null } })
  })

  test('with a limit an application that has objects elsewhere is left alone', async () => {
    await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } })
    await applyShop(workload('Process', { name: 'far', namespace: 'other' }, { command: ['serve', 'far'] }))
    const before = commands()
    const limited = await open({ namespace: 'default' })
    const refused = await limited.call('down', { confirm: 'default' })
    expect([refused.isError, refused.text]).toEqual([
      true,
      expect.stringMatching(/^not-allowed: .*1 of the objects of the application are outside/) as string,
    ])
    const elsewhere = await limited.call('down', { namespace: 'other', confirm: 'other' })
    expect([elsewhere.isError, elsewhere.text]).toEqual([true, expect.stringMatching(/^not-allowed: /) as string])
    expect(commands()).toEqual(before)
  })

  test('ends the run of its folder, and no run when its server is another one', async () => {
    await applyShop()
    const child = spawn('sleep', ['1000'])
    ended.push(() => child.kill('SIGKILL'))
    const exit = once(child, 'exit') as Promise<[code: number | null, signal: string | null]>
    await once(child, 'spawn')
    const pid = child.pid ?? 0
    const startTicks = systemTable().find(pid)?.startTicks ?? 0
    await writeRecord(join(world.folder, 'data'), { pid, startTicks, namespace: 'default', state: 'ready' })
    const elsewhere = join(world.folder, 'kubeconfig')
    await copyFile(kubeconfig(), elsewhere)
    const other = await open({ env: { KUBECONFIG: elsewhere } })
    expect((await other.call('down', { confirm: 'default', keep: true })).data).not.toHaveProperty('endedRun')
    expect(
      (await (await open()).call('down', { namespace: 'kube-system', confirm: 'kube-system' })).data,
    ).toMatchObject({ isComplete: true, removed: [] })
    expect([child.exitCode, child.signalCode]).toEqual([null, null])
    expect((await (await open()).call('down', { confirm: 'default' })).data).toMatchObject({
      isComplete: true,
      endedRun: pid,
      next: expect.stringContaining('evenkeel run starts it again') as string,
    })
    expect(await exit).toEqual([null, 'SIGTERM'])
  })
})
