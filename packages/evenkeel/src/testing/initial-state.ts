/**
 * The initial state of every schedule of a scenario, built once: installed kinds, namespaces and objects.
 *
 * Building it takes a server and some milliseconds. It is kept as the list of commits that led to it. A new world replays
 * these commits into its own store, has the same revisions, and is ready in under a millisecond.
 */
import {
  deepFreeze,
  isJsonObject,
  loadClaimsEngine,
  type Kind,
  type UnstructuredObject,
  parseJson,
  stringifyJson,
} from '#api'
import { flushTasks, SeededRandom, SimulatedClock } from '#base'
import { Client } from '#client'
import { startServer } from '#server'
import { openMemoryStore, type Store, type Write } from '#store'
import { startOf, type Scenario } from './scenario.ts'

interface RecordedCommit {
  readonly writes: Write[]
  readonly revision: number
}

export interface InitialState {
  readonly startMs: number
  /** The objects by key; frozen, because all worlds share them. */
  readonly objects: ReadonlyMap<string, UnstructuredObject>
  /** A new store with these commits. */
  open(clock: SimulatedClock): Promise<Store>
}

export async function buildInitialState(
  scenario: Scenario,
  { kinds, seed }: { kinds: readonly Kind[]; seed: string },
): Promise<InitialState> {
  await preloadModules()
  const startMs = startOf(scenario)
  const clock = new SimulatedClock({ ...(startMs !== undefined && { startMs }) })
  const store = openMemoryStore({ clock })
  const commits: RecordedCommit[] = []
  const source = store.watch('/', { after: await store.head() })
  const following = (async () => {
    for await (const { changes } of source) {
      for (const { key, revision, entry, previous } of changes) {
        const write: Write = { key, expect: previous?.revision ?? 0, ...(entry && { value: entry.value }) }
        const last = commits.at(-1)
        if (last?.revision === revision) last.writes.push(write)
        else commits.push({ revision, writes: [write] })
      }
    }
  })()
  const server = await startServer({
    store,
    clock,
    random: new SeededRandom(`${seed} ground`),
    bootstrap: false,
    kinds,
  })
  const client = new Client({
    transport: server.transport,
    clock,
    random: new SeededRandom(`${seed} somebody`),
    namespace: 'default',
  })
  // Without the roles of a cluster: every request is allowed, and the rule `privilege` checks permissions.
  for (const name of ['default', 'kube-system'])
    await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  for (const object of (scenario.objects ?? []) as readonly UnstructuredObject[]) {
    const { status } = object
    const created = await client.create(object)
    const isStored = stringifyJson((created as UnstructuredObject)['status']) === stringifyJson(status)
    if (isJsonObject(status) && !isStored) await client.patchStatus(created, status)
  }
  const objects = await objectsOf(store)
  await flushTasks()
  const stopping = server.stop()
  await clock.advance(0)
  await stopping
  source.close()
  await following
  await store.close()
  return { startMs: clock.now(), objects, open: (worldClock) => replayCommits(commits, worldClock) }
}

async function objectsOf(store: Store): Promise<ReadonlyMap<string, UnstructuredObject>> {
  const range = await store.range('/')
  const entries = range.ok ? range.entries : []
  return new Map(
    entries.map(({ key, value }) => [key, deepFreeze(parseJson(Buffer.from(value).toString()) as UnstructuredObject)]),
  )
}

async function replayCommits(commits: readonly RecordedCommit[], clock: SimulatedClock): Promise<Store> {
  const store = openMemoryStore({ clock })
  for (const { writes, revision } of commits) {
    const result = await store.commitAll(writes)
    if (!result.ok || result.revision !== revision)
      throw new Error(`cannot replay the initial state at revision ${revision}`)
  }
  return store
}

let loading: Promise<unknown> | undefined

/**
 * Loads the modules that programs load on first use.
 *
 * An import takes turns of the real event loop, and simulated time does not wait for it: the first schedule would differ
 * from all others.
 */
export async function preloadModules(): Promise<void> {
  await (loading ??= Promise.all([loadClaimsEngine(), import('re2js')]))
}
