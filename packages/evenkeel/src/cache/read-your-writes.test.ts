import { expect, test } from 'vitest'
import { expired, type KubeObject } from '#api'
import type { FakeServer, Widget } from './fake-server.fixture.ts'
import { setUpInformer, tell, type InformerSetup } from './informer.fixture.ts'
import { Item } from './items.ts'

/** An object as a server answers a write: of this version, whatever the watch has told. */
function widget(
  version: string,
  {
    name = 'one',
    uid = 'uid-1',
    ...rest
  }: { name?: string; uid?: string; labels?: Record<string, string>; size?: number } = {},
): Widget {
  const { labels, size } = rest
  return {
    apiVersion: 'test.dev/v1',
    kind: 'Widget',
    metadata: { name, namespace: 'a', uid, resourceVersion: version, ...(labels && { labels }) },
    spec: { ...(size !== undefined && { size }) },
  }
}

function send(server: FakeServer, type: 'ADDED' | 'MODIFIED' | 'DELETED', object: Widget): void {
  for (const watch of server.watches) watch.push([{ type, item: Item.ofObject(structuredClone(object)) }])
}

function shown({ informer }: InformerSetup, name = 'one'): string | undefined {
  return informer.find({ namespace: 'a', name })?.metadata.resourceVersion
}

async function withObject(version = '48'): Promise<InformerSetup> {
  const setup = await setUpInformer()
  send(setup.server, 'ADDED', widget(version))
  await setup.clock.advance(0)
  setup.heard.length = 0
  return setup
}

test.each(['50', '51'])('93 a read gives our write until the watch has come to it (%s)', async (passing) => {
  const setup = await withObject()
  setup.informer.noteWrite(widget('50', { size: 5 }))
  expect(shown(setup)).toBe('50')
  send(setup.server, 'MODIFIED', widget('49'))
  await setup.clock.advance(0)
  expect(shown(setup)).toBe('50')
  expect(setup.informer.pendingWriteCount).toBe(1)
  send(setup.server, 'MODIFIED', widget(passing))
  await setup.clock.advance(0)
  expect(shown(setup)).toBe(passing)
  expect(setup.informer.pendingWriteCount).toBe(0)
  expect(setup.heard).toEqual(['update one 48>49', `update one 49>${passing}`])
})

test('94 a list by label and by index includes what we created in the same turn, and excludes what we relabelled', async () => {
  const setup = await withObject()
  const { informer } = setup
  informer.addIndex('size', ({ spec }) => String(spec?.size))
  const names = (): unknown[] =>
    [informer.list({ labelSelector: 'app=web' }), informer.list({ index: { name: 'size', value: '3' } })].map((list) =>
      list.map(({ metadata }) => metadata.name),
    )
  informer.noteWrite(widget('50', { name: 'new', uid: 'uid-2', labels: { app: 'web' }, size: 3 }))
  expect(names()).toEqual([['new'], ['new']])
  informer.noteWrite(widget('51', { name: 'new', uid: 'uid-2', labels: { app: 'db' }, size: 4 }))
  expect(names()).toEqual([[], []])
})

test("94 an object that our write takes out of a cache's selection is gone at once", async () => {
  const setup = await setUpInformer({ scope: { labelSelector: 'app=web' } })
  send(setup.server, 'ADDED', widget('48', { labels: { app: 'web' } }))
  await setup.clock.advance(0)
  setup.informer.noteWrite(widget('50', { labels: { app: 'db' } }))
  expect(shown(setup)).toBeUndefined()
  send(setup.server, 'DELETED', widget('50', { labels: { app: 'web' } }))
  await setup.clock.advance(0)
  expect(setup.informer.pendingWriteCount).toBe(0)
  expect(setup.heard).toEqual(['add one 48', 'delete one 48>50'])
})

test('95 a write that changed nothing waits for nothing', async () => {
  const setup = await withObject()
  setup.informer.noteWrite(widget('48'))
  expect(setup.informer.pendingWriteCount).toBe(0)
  await setup.informer.waitForVersion('48')
})

test('96 a write outside the scope is not kept', async () => {
  const setup = await setUpInformer({ scope: { namespace: 'b', fieldSelector: 'spec.size=1' } })
  setup.informer.noteWrite(widget('50', { size: 1 }))
  expect([setup.informer.size, setup.informer.pendingWriteCount]).toEqual([0, 0])
  setup.informer.noteWrite({ ...widget('50', { size: 2 }), metadata: { ...widget('50').metadata, namespace: 'b' } })
  expect([setup.informer.size, setup.informer.pendingWriteCount]).toEqual([0, 0])
})

test('97 a ghost goes when the watch tells of its end', async () => {
  const setup = await withObject()
  setup.informer.noteWrite(widget('50', { name: 'ghost', uid: 'uid-2' }))
  send(setup.server, 'DELETED', widget('51', { name: 'ghost', uid: 'uid-2' }))
  await setup.clock.advance(0)
  expect(shown(setup, 'ghost')).toBeUndefined()
  expect(setup.informer.pendingWriteCount).toBe(0)
})

test('97 a ghost goes when the watch has passed it', async () => {
  const setup = await withObject()
  setup.informer.noteWrite(widget('50', { name: 'ghost', uid: 'uid-2' }))
  setup.server.version = 60
  setup.server.bookmark()
  await setup.clock.advance(0)
  expect(shown(setup, 'ghost')).toBeUndefined()
})

test('97 a ghost goes with a newer list and stays with an older one', async () => {
  const setup = await withObject()
  setup.informer.noteWrite(widget('50', { name: 'ghost', uid: 'uid-2' }))
  setup.server.version = 49
  setup.server.cut(expired('too old'))
  await setup.clock.advance(2000)
  expect(shown(setup, 'ghost')).toBe('50')
  setup.server.version = 51
  setup.server.cut(expired('too old'))
  await setup.clock.advance(5000)
  expect(shown(setup, 'ghost')).toBeUndefined()
  expect(setup.informer.pendingWriteCount).toBe(0)
})

test('97 a ghost goes by a question to the server, after a while', async () => {
  const setup = await withObject()
  setup.informer.noteWrite(widget('50', { name: 'ghost', uid: 'uid-2' }))
  await setup.clock.advance(29_000)
  expect(shown(setup, 'ghost')).toBe('50')
  await setup.clock.advance(2000)
  expect(shown(setup, 'ghost')).toBeUndefined()
  expect(setup.server.calls).toContain('find a/ghost')
})

test('97 a server that does not answer is asked again', async () => {
  const setup = await withObject()
  setup.informer.noteWrite(widget('50', { name: 'ghost', uid: 'uid-2' }))
  setup.server.failures.push(new Error('busy'))
  await setup.clock.advance(31_000)
  expect(shown(setup, 'ghost')).toBe('50')
  await setup.clock.advance(31_000)
  expect(shown(setup, 'ghost')).toBeUndefined()
})

test('98 a foreign change that arrived before our answer wins', async () => {
  const setup = await withObject()
  send(setup.server, 'MODIFIED', widget('51'))
  await setup.clock.advance(0)
  setup.informer.noteWrite(widget('50'))
  expect(shown(setup)).toBe('51')
  expect(setup.informer.pendingWriteCount).toBe(0)
})

test('98 an object that the watch has seen go does not come back with our answer', async () => {
  const setup = await withObject()
  send(setup.server, 'DELETED', widget('52'))
  await setup.clock.advance(0)
  setup.informer.noteWrite(widget('50'))
  expect(shown(setup)).toBeUndefined()
})

test('99 an object that we deleted is shown with its deletion time while finalizers hold it, and not at all otherwise', async () => {
  const setup = await withObject()
  const held: KubeObject = {
    ...widget('50'),
    metadata: { ...widget('50').metadata, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['test.dev/x'] },
  }
  setup.informer.noteWrite(held)
  expect(setup.informer.find({ namespace: 'a', name: 'one' })?.metadata.deletionTimestamp).toBe('2026-01-01T00:00:00Z')
  setup.informer.noteDelete({ namespace: 'a', name: 'one', uid: 'uid-1' })
  expect(shown(setup)).toBeUndefined()
  // What was on its way does not bring it back; what comes under the same name later does.
  send(setup.server, 'MODIFIED', widget('50'))
  await setup.clock.advance(0)
  expect(shown(setup)).toBeUndefined()
  send(setup.server, 'DELETED', widget('52'))
  send(setup.server, 'ADDED', widget('53', { uid: 'uid-9' }))
  await setup.clock.advance(0)
  expect(shown(setup)).toBe('53')
  expect(setup.heard).toEqual(['update one 48>50', 'delete one 50>52', 'add one 53'])
})

test('100 a handler without own events hears of a foreign change that is mixed with ours, with before and after', async () => {
  const setup = await withObject()
  const heard: string[] = []
  setup.informer.addHandler(
    (event) => {
      heard.push(tell(event))
    },
    { skipOwn: true },
  )
  await setup.clock.advance(0)
  heard.length = 0
  setup.informer.noteWrite(widget('50'), { from: '48' })
  setup.informer.noteWrite(widget('51'), { from: '50' })
  send(setup.server, 'MODIFIED', widget('50'))
  send(setup.server, 'MODIFIED', widget('51'))
  await setup.clock.advance(0)
  expect(heard).toEqual([])
  expect(setup.heard).toEqual(['update one 48>50 isOwn', 'update one 50>51 isOwn'])
  setup.informer.noteWrite(widget('53'), { from: '52' })
  send(setup.server, 'MODIFIED', widget('53'))
  await setup.clock.advance(0)
  expect(heard).toEqual(['update one 51>53'])
})

test('100 a create of ours is our own event', async () => {
  const setup = await setUpInformer()
  setup.informer.noteWrite(widget('50'), { from: '' })
  send(setup.server, 'ADDED', widget('50'))
  await setup.clock.advance(0)
  expect(setup.heard).toEqual(['add one 50 isOwn'])
})

test('101 nothing that a list shows is left out as ours', async () => {
  const setup = await withObject()
  const heard: string[] = []
  setup.informer.addHandler(
    (event) => {
      heard.push(tell(event))
    },
    { skipOwn: true },
  )
  await setup.clock.advance(0)
  heard.length = 0
  setup.server.version = 49
  setup.server.isMute = true
  setup.server.put('one')
  const [answer] = setup.server.objects.values()
  setup.informer.noteWrite(answer as Widget, { from: '48' })
  setup.server.compact()
  setup.server.cut(expired('too old'))
  await setup.clock.advance(5000)
  expect(heard).toEqual(['update one 48>50 isListed'])
})

test('102 a write that changed nothing does not swallow the foreign change whose version it was answered with', async () => {
  const setup = await withObject()
  const heard: string[] = []
  setup.informer.addHandler(
    (event) => {
      heard.push(tell(event))
    },
    { skipOwn: true },
  )
  await setup.clock.advance(0)
  heard.length = 0
  // The patch changed nothing; 50 is somebody else's. Without a lock we do not know what it was before.
  setup.informer.noteWrite(widget('50'))
  expect(shown(setup)).toBe('50')
  send(setup.server, 'MODIFIED', widget('50'))
  await setup.clock.advance(0)
  expect(heard).toEqual(['update one 48>50'])
})

test('caughtUp resolves when the watch has come to a version, by an event or a bookmark', async () => {
  const setup = await withObject()
  const reached: string[] = []
  for (const version of ['49', '60']) void setup.informer.waitForVersion(version).then(() => reached.push(version))
  await setup.clock.advance(0)
  expect(reached).toEqual([])
  send(setup.server, 'MODIFIED', widget('50'))
  await setup.clock.advance(0)
  expect(reached).toEqual(['49'])
  setup.server.version = 60
  setup.server.bookmark()
  await setup.clock.advance(0)
  expect(reached).toEqual(['49', '60'])
})

test('caughtUp lets go of who leaves by a signal', async () => {
  const setup = await withObject()
  const stop = new AbortController()
  const outcome = expect(setup.informer.waitForVersion('99', { signal: stop.signal })).rejects.toThrow('enough')
  stop.abort(new Error('enough'))
  await outcome
})

test('versions that cannot be compared count by equality: an overlay ends with its own event', async () => {
  const setup = await withObject('abc')
  setup.informer.noteWrite(widget('def'))
  expect(shown(setup)).toBe('def')
  send(setup.server, 'MODIFIED', widget('xyz'))
  await setup.clock.advance(0)
  expect(shown(setup)).toBe('def')
  send(setup.server, 'MODIFIED', widget('def'))
  await setup.clock.advance(0)
  expect(setup.informer.pendingWriteCount).toBe(0)
})

test('noteWrite neither freezes nor changes the object it is given', async () => {
  const setup = await withObject()
  const object = { ...widget('50'), metadata: { ...widget('50').metadata, managedFields: [{ manager: 'me' }] } }
  setup.informer.noteWrite(object)
  expect(Object.isFrozen(object)).toBe(false)
  expect(object.metadata.managedFields).toHaveLength(1)
  expect(setup.informer.find({ namespace: 'a', name: 'one' })?.metadata.managedFields).toBeUndefined()
})

test('an object that we deleted before the watch told of it is not shown when the watch does', async () => {
  const setup = await withObject()
  setup.informer.noteDelete({ namespace: 'a', name: 'new', uid: 'uid-2', resourceVersion: '49' })
  send(setup.server, 'ADDED', widget('49', { name: 'new', uid: 'uid-2' }))
  await setup.clock.advance(0)
  expect(shown(setup, 'new')).toBeUndefined()
  send(setup.server, 'DELETED', widget('50', { name: 'new', uid: 'uid-2' }))
  await setup.clock.advance(0)
  expect(setup.informer.pendingWriteCount).toBe(0)
})

test('a delete that the watch told before the server answered waits for nothing', async () => {
  const setup = await withObject()
  send(setup.server, 'DELETED', widget('50'))
  await setup.clock.advance(0)
  setup.informer.noteDelete({ namespace: 'a', name: 'one', uid: 'uid-1' })
  expect(setup.informer.pendingWriteCount).toBe(0)
})

test('the answer to a delete of one object does not hide the next one of its name', async () => {
  const setup = await withObject()
  send(setup.server, 'DELETED', widget('50'))
  send(setup.server, 'ADDED', widget('51', { uid: 'uid-2' }))
  await setup.clock.advance(0)
  setup.informer.noteDelete({ namespace: 'a', name: 'one', uid: 'uid-1' })
  expect(shown(setup)).toBe('51')
})

test('a write that the watch has already delivered ends the wait for our delete of the object', async () => {
  const setup = await withObject('48')
  setup.informer.noteDelete({ namespace: 'a', name: 'one' })
  expect([shown(setup), setup.informer.pendingWriteCount]).toEqual([undefined, 1])
  setup.informer.noteWrite(widget('48'))
  expect([shown(setup), setup.informer.pendingWriteCount]).toEqual(['48', 0])
})

test('a late answer to our delete is no pending write if the watch has delivered it, for the latest thousand objects', async () => {
  const setup = await setUpInformer()
  const name = (index: number): { name: string; uid: string } => ({ name: `n${index}`, uid: `uid-n${index}` })
  for (let index = 0; index < 1_025; index++) {
    send(setup.server, 'ADDED', widget(String(100 + 2 * index), name(index)))
    send(setup.server, 'DELETED', widget(String(101 + 2 * index), name(index)))
  }
  await setup.clock.advance(0)
  for (const index of [1, 500, 1_024]) setup.informer.noteDelete({ namespace: 'a', ...name(index) })
  setup.informer.noteDelete({ namespace: 'a', name: 'n1' })
  expect(setup.informer.pendingWriteCount).toBe(0)
  setup.informer.noteDelete({ namespace: 'a', ...name(0) })
  expect(setup.informer.pendingWriteCount).toBe(1)
})

test('a handler that is added while our write is pending gets the state of the watch', async () => {
  const setup = await withObject('48')
  setup.informer.noteWrite(widget('50'))
  const heard: string[] = []
  setup.informer.addHandler((event) => {
    heard.push(tell(event))
  })
  await setup.clock.advance(0)
  expect(heard).toEqual(['add one 48 isInitial'])
})

test('a write of the version that the watch has reached, without an event for the object, is not shown', async () => {
  const setup = await withObject('60')
  setup.informer.noteWrite(widget('60', { name: 'other', uid: 'uid-2' }))
  expect([shown(setup, 'other'), setup.informer.pendingWriteCount]).toEqual([undefined, 0])
})

test('a delete of ours that the watch does not deliver is checked with the server', async () => {
  const setup = await setUpInformer({ checkWritesMs: 1_000 })
  setup.server.put('one')
  await setup.clock.advance(0)
  setup.informer.noteDelete({ namespace: 'a', name: 'one' })
  expect(shown(setup)).toBeUndefined()
  await setup.clock.advance(1_000)
  expect(shown(setup)).toBeDefined()
})

test('our delete is pending until a list of its version or a later one, if the server gave its version', async () => {
  const setup = await withObject('48')
  setup.informer.noteDelete({ namespace: 'a', name: 'one', uid: 'uid-1', resourceVersion: '50' })
  setup.server.version = 49
  setup.server.cut(expired('too old'))
  await setup.clock.advance(2000)
  expect(setup.informer.pendingWriteCount).toBe(1)
  setup.server.version = 51
  setup.server.cut(expired('too old'))
  await setup.clock.advance(5000)
  expect(setup.informer.pendingWriteCount).toBe(0)
})
