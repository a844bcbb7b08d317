/**
 * One change of an object with many references to it: the time until each referrer has run and reported, and the number
 * of runs.
 */
import { dependsOn } from 'evenkeel'
import type { ControllerDeclaration, ObjectOf } from 'evenkeel'
import type { Client } from 'evenkeel/client'
import { startTestPlane } from 'evenkeel/testing'
import { median } from '../print.ts'
import type { BenchOptions } from '../print.ts'
import { Hub, Referer } from './kinds.ts'
import { createAll, revisionOf } from './stage.ts'

const namespace = 'default'
const place = { name: 'hub', namespace }
const contract = { path: 'status.port', schema: { type: 'integer' } } as const

interface Counts {
  byChange: number
  others: number
}

interface Taken {
  readonly ms: number
  readonly runs: number
  readonly others: number
  readonly writes: number
}

export async function dependentsBench({ rounds, only, quick, print }: BenchOptions): Promise<void> {
  const count = quick ? 50 : 5000
  const name = `one change for ${count} referers`
  if (!name.includes(only)) return
  const counts: Counts = { byChange: 0, others: 0 }
  await using plane = await startTestPlane({ kinds: [Hub], controllers: [refererController(counts)] })
  const { client } = plane
  await client.create(Hub, { metadata: place, spec: {} })
  await publish(client, 1)
  await createAll(client, Referer, { namespace, count, spec: { hub: 'hub' } })
  await untilAll(client, { count, port: 1 })
  const taken: Taken[] = []
  for (let round = 0; round < rounds; round++) {
    const port = round + 2
    const before = await revisionOf(client, Referer, namespace)
    Object.assign(counts, { byChange: 0, others: 0 })
    const startedMs = performance.now()
    const done = untilAll(client, { count, port })
    await publish(client, port)
    await done
    taken.push({
      ms: performance.now() - startedMs,
      runs: counts.byChange / count,
      others: counts.others / count,
      writes: ((await revisionOf(client, Referer, namespace)) - before - 1) / count,
    })
  }
  const of = (key: keyof Taken): number => median(taken.map((one) => one[key]))
  print({
    case: name,
    ours: of('ms'),
    peer: undefined,
    peerName: 'no peer',
    unit: 'ms',
    lessIsBetter: true,
    more: { 'runs per referer': of('runs'), 'and by its own status': of('others'), 'writes per referer': of('writes') },
  })
}

function refererController(counts: Counts): ControllerDeclaration {
  const hub = dependsOn(Hub, ({ spec }: ObjectOf<typeof Referer>) => spec.hub, { contract, ready: () => true })
  const controller: ControllerDeclaration<typeof Referer> = {
    for: Referer,
    verbs: [hub],
    concurrency: 16,
    async reconcile(_, context) {
      if (context.causes.some(({ source }) => source.startsWith('depends on'))) counts.byChange++
      else counts.others++
      const found = await hub.one(context)
      context.status.set({ port: found?.contract })
    },
  }
  return controller as unknown as ControllerDeclaration
}

async function publish(client: Client, port: number): Promise<void> {
  await client.patchStatus(await client.get(Hub, place), { port })
}

async function untilAll(client: Client, { count, port }: { count: number; port: number }): Promise<void> {
  const {
    items,
    metadata: { resourceVersion: listed },
  } = await client.page(Referer, { namespace, pageSize: count })
  const done = new Set(items.filter(({ status }) => status?.port === port).map(({ metadata }) => metadata.name))
  for (let resourceVersion = listed ?? ''; done.size < count;) {
    for await (const event of client.watch(Referer, { namespace, resourceVersion })) {
      if (event.type === 'ERROR') throw event.error
      resourceVersion = event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion
      if (event.type !== 'BOOKMARK' && event.object.status?.port === port) done.add(event.object.metadata.name)
      if (done.size >= count) return
    }
  }
}
