import { expect, test } from 'vitest'
import { z } from 'zod'
import {
  Client,
  connect,
  ConnectionError,
  isConfigError,
  isConnectionError,
  isUnknownKind,
  loadConfig,
  metadataOnly,
  parseJson,
  refTo,
  retryOnConflict,
  stringifyJson,
  type ApplyOptions,
  type ClientOptions,
  type ConnectionConfig,
  type ConnectionProblem,
  type ConnectOptions,
  type CreateOptions,
  type DeleteOptions,
  type DiscoveredResource,
  type GetOptions,
  type ListOptions,
  type ObjectName,
  type PatchOptions,
  type WatchEvent,
  type WatchOptions,
  type WriteOptions,
} from './client.ts'
import { defineController, defineKind, isConflict, type ObjectOf } from './index.ts'
import { startPlane } from './server.ts'
import { startTestPlane } from './testing.ts'

const Note = defineKind({
  group: 'demo.example.com',
  version: 'v1',
  kind: 'Note',
  shortNames: ['no'],
  spec: z.object({ text: z.string(), tags: z.array(z.string()).default([]) }),
  status: z.object({ seen: z.number() }),
})

const key: ObjectName = { name: 'a', namespace: 'default' }

/** A server in memory, and a client of it. */
async function withClient(use: (client: Client) => Promise<void>, options: Partial<ClientOptions> = {}): Promise<void> {
  const plane = await startPlane({ kinds: [Note], controllers: false })
  try {
    await use(new Client({ transport: plane.transport, ...options }))
  } finally {
    await plane.stop()
  }
}

test('writes say who they are from, and whether they count', async () => {
  await withClient(async (client) => {
    const dry: CreateOptions = { dryRun: true }
    await client.create(Note, { metadata: key, spec: { text: 'x' } }, dry)
    expect(await client.find(Note, key)).toBeUndefined()

    const mine: ApplyOptions = { fieldManager: 'mine' }
    await client.apply(Note, { metadata: key, spec: { text: 'mine' } }, mine)
    const theirs: ApplyOptions = { fieldManager: 'theirs' }
    const wanted = { metadata: key, spec: { text: 'theirs' } }
    await expect(client.apply(Note, wanted, theirs)).rejects.toSatisfy(isConflict)
    expect((await client.apply(Note, wanted, { ...theirs, force: true })).spec.text).toBe('theirs')
  })
})

test('a patch needs a reference only, in the form that it says', async () => {
  await withClient(async (client) => {
    await client.create(Note, { metadata: key, spec: { text: 'x', tags: ['one'] } })
    const note = refTo(Note, key)
    const json: PatchOptions = { type: 'json' }
    const patched = await client.patch(note, [{ op: 'add', path: '/spec/tags/-', value: 'two' }], json)
    expect(patched?.spec.tags).toEqual(['one', 'two'])
    const written: WriteOptions = { fieldManager: 'observer' }
    await client.patchStatus(note, { seen: 3 }, written)
    const old: GetOptions = { resourceVersion: '0' }
    expect((await client.get(Note, key, old)).status).toEqual({ seen: 3 })
  })
})

test('lists select by labels, and may have metadata alone', async () => {
  await withClient(
    async (client) => {
      for (const [name, app] of [
        ['a', 'web'],
        ['b', 'web'],
        ['c', 'db'],
      ] as const)
        await client.create(Note, { metadata: { name, labels: { app } }, spec: { text: name } })
      const web: ListOptions = { labelSelector: { matchLabels: { app: 'web' } }, pageSize: 1 }
      expect((await client.list(Note, web)).items.map(({ spec }) => spec.text)).toEqual(['a', 'b'])
      const [first] = (await client.list(metadataOnly(Note), { labelSelector: 'app=db' })).items
      expect([first?.kind, first?.metadata.name, Object.keys(first ?? {}).includes('spec')]).toEqual([
        'Note',
        'c',
        false,
      ])
    },
    { namespace: 'default' },
  )
})

test('a watch tells what is there, and then every change', async () => {
  await withClient(async (client) => {
    await client.create(Note, { metadata: key, spec: { text: 'x' } })
    const seen: string[] = []
    const write = (event: WatchEvent<ObjectOf<typeof Note>>): void => {
      if ('object' in event) seen.push(`${event.type} ${event.object.spec.text}`)
      else if (event.type === 'BOOKMARK') seen.push(event.initialEventsEnd ? 'SYNCED' : 'BOOKMARK')
    }
    const options: WatchOptions = {
      namespace: 'default',
      sendInitialEvents: true,
      resourceVersionMatch: 'NotOlderThan',
    }
    for await (const event of client.watch(Note, options)) {
      write(event)
      const last = seen.at(-1)
      if (last === 'SYNCED') await client.patch(refTo(Note, key), { spec: { text: 'y' } })
      if (last === 'MODIFIED y') await client.delete(refTo(Note, key))
      if (last === 'DELETED y') break
    }
    expect(seen).toEqual(['ADDED x', 'SYNCED', 'MODIFIED y', 'DELETED y'])
  })
})

test('a deletion can be bound to the object that was read', async () => {
  await withClient(async (client) => {
    const note = await client.create(Note, { metadata: key, spec: { text: 'x' } })
    const another: DeleteOptions = { preconditions: { uid: '00000000-0000-0000-0000-000000000000' } }
    await expect(client.delete(note, another)).rejects.toSatisfy(isConflict)
    await client.delete(note, { preconditions: { uid: note.metadata.uid } })
    expect(await client.find(Note, key)).toBeUndefined()
  })
})

test('discovery names what the server has, and a kind that it does not have is an error of its own', async () => {
  await withClient(async (client) => {
    const resources: readonly DiscoveredResource[] = await client.resources()
    const notes = resources.find(({ kind }) => kind === 'Note')
    expect([notes?.plural, notes?.shortNames, notes?.subresources]).toEqual(['notes', ['no'], ['status']])
    const missing = { apiVersion: 'demo.example.com/v1', kind: 'Missing' }
    const error: unknown = await client.get(missing, key).catch((thrown: unknown) => thrown)
    expect(isUnknownKind(error) && error.kind).toEqual(missing)
  })
})

test('retryOnConflict takes the context of a reconcile, and reads again after a conflict', async () => {
  const attempts: number[] = []
  const notes = defineController({
    for: Note,
    async reconcile(note, context) {
      const { client, status } = context
      await retryOnConflict(async (attempt) => {
        attempts.push(attempt)
        const current = attempt === 0 ? note : await client.get(Note, key, { live: true })
        if (attempt === 0) await client.patch(refTo(Note, key), { metadata: { labels: { touched: 'yes' } } })
        await client.update({ ...current, metadata: { ...current.metadata, annotations: { counted: 'yes' } } })
      }, context)
      status.set({ seen: attempts.length })
    },
  })
  await using plane = await startTestPlane({ controllers: [notes], simulated: true, builtin: false })
  await plane.client.create(Note, { metadata: key, spec: { text: 'x' } })
  await plane.until(async () => (await plane.client.get(Note, key)).metadata.annotations?.['counted'] === 'yes')
  expect(attempts.slice(0, 2)).toEqual([0, 1])
})

test('a server that refuses the connection is told from one that answers', async () => {
  const config: ConnectionConfig = { origin: 'a test', server: 'http://127.0.0.1:1', namespace: 'default' }
  const options: ConnectOptions = { config, retry: false }
  const client = await connect(options)
  const error: unknown = await client.list(Note).catch((thrown: unknown) => thrown)
  const problem: ConnectionProblem = 'refused'
  expect([isConnectionError(error), isConnectionError(error, problem), isConnectionError(error, 'timeout')]).toEqual([
    true,
    true,
    false,
  ])
  expect(error).toBeInstanceOf(ConnectionError)
  expect((error as ConnectionError).address).toBe('http://127.0.0.1:1')
  await client.close()
})

test('a kubeconfig that is not there is an error of the configuration', async () => {
  await expect(loadConfig({ kubeconfig: '/does/not/exist' })).rejects.toSatisfy(isConfigError)
})

test('integers that a number cannot hold are bigints, and stay exact', async () => {
  const Counter = defineKind({
    group: 'demo.example.com',
    version: 'v1',
    kind: 'Counter',
    spec: z.object({ count: z.int() }),
  })
  const { client, stop } = await startTestPlane({ kinds: [Counter] })
  const metadata = { name: 'a', namespace: 'default' }
  const count = 2n ** 53n + 1n
  await client.create(Counter, { metadata, spec: { count: count as unknown as number } })
  const read = await client.get(Counter, metadata)
  expect(read.spec.count).toBe(count)
  await client.update({ ...read, metadata: { ...read.metadata, labels: { a: 'b' } } })
  const text = (await client.raw({ path: '/apis/demo.example.com/v1/namespaces/default/counters/a' })).text()
  expect(text).toContain('"count":9007199254740993')
  expect(stringifyJson(parseJson(text))).toBe(text.trim())
  await stop()
})
