/** What a run applies and removes, and copies. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from 'evenkeel/client'
import type { FileObject } from '@evenkeel/workloads'
import { startTestPlane, type TestPlane } from 'evenkeel/testing'
import { copyOf } from './copy.ts'
import { SystemClock } from 'evenkeel/unstable/base'
import { applyAgain, applyAll, forgetApplied, readInventory } from './inventory.ts'

let plane: TestPlane
let client: Client
const signal = new AbortController().signal
const options = { namespace: 'default', signal }
beforeAll(async () => {
  plane = await startTestPlane({ controllers: [] })
  client = plane.client
})
afterAll(() => plane.stop())

const settings = (name: string, data: object = { a: '1' }, line = 1): FileObject => ({
  file: 'evenkeel.yaml',
  line,
  object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data } as FileObject['object'],
})
const namesOf = async (): Promise<readonly string[]> =>
  (await client.list({ apiVersion: 'v1', kind: 'ConfigMap' }, { namespace: 'default' })).items
    .map(({ metadata }) => metadata.name ?? '')
    .filter((name) => name !== 'kube-root-ca.crt')

describe('applyAll', () => {
  test('applies objects, and removes those that left the files', async () => {
    expect(await applyAll(client, [settings('a'), settings('b')], options)).toEqual({ removed: [], deleting: [] })
    expect(await namesOf()).toEqual(['a', 'b', 'evenkeel-run'])
    expect(await applyAll(client, [settings('b')], options)).toMatchObject({
      removed: [{ kind: 'ConfigMap', name: 'a' }],
    })
    expect(await namesOf()).toEqual(['b', 'evenkeel-run'])
    expect(await readInventory(client, options)).toEqual([
      { apiVersion: 'v1', kind: 'ConfigMap', name: 'b', namespace: 'default' },
    ])
  })

  test('does not remove an object that another one has made since', async () => {
    await applyAll(client, [settings('mine'), settings('b')], options)
    const kind = { apiVersion: 'v1', kind: 'ConfigMap' }
    await client.delete(await client.get(kind, { name: 'mine', namespace: 'default' }))
    await client.create({ ...kind, metadata: { name: 'mine', namespace: 'default' } })
    await applyAll(client, [settings('b')], options)
    expect(await namesOf()).toContain('mine')
  })

  test('an object that the server refuses is named with its place; others are applied', async () => {
    const bad = settings('c', { a: 1 }, 7)
    await expect(applyAll(client, [bad, settings('d')], options)).rejects.toThrow(/^evenkeel\.yaml:7: .*data/)
    expect(await namesOf()).toContain('d')
    // What was begun is known: the next run removes it.
    expect(await applyAll(client, [settings('b')], options)).toMatchObject({ removed: [{ name: 'c' }, { name: 'd' }] })
    expect(await namesOf()).not.toContain('d')
  })

  test('an object that is being deleted is made again when it is gone', async () => {
    await applyAll(client, [settings('late')], options)
    const kind = { apiVersion: 'v1', kind: 'ConfigMap' }
    const key = { name: 'late', namespace: 'default' }
    const before = await client.get(kind, key)
    await client.patch({ ...before, ...kind }, { metadata: { finalizers: ['test.dev/hold'] } })
    await client.delete({ ...before, ...kind })
    const { deleting } = await applyAll(client, [settings('late')], options)
    expect(deleting.map(({ object }) => object.metadata.name)).toEqual(['late'])
    const again = deleting.map((one) => applyAgain(client, one, { signal, clock: new SystemClock() }))
    await client.patch({ ...before, ...kind }, { metadata: { finalizers: null } })
    await Promise.all(again)
    const after = await client.get(kind, key)
    expect(after.metadata.uid).not.toBe(before.metadata.uid)
    expect(after.metadata.deletionTimestamp).toBeUndefined()
  })

  test('makes the namespace of a copy, and leaves objects of the cluster where they are', async () => {
    const space: FileObject = {
      file: 'evenkeel.yaml',
      line: 1,
      object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } },
    }
    await applyAll(client, [space, settings('e')], { namespace: 'blue', signal })
    const kind = { apiVersion: 'v1', kind: 'ConfigMap' }
    expect(await client.find(kind, { name: 'e', namespace: 'blue' })).toBeDefined()
    expect(await client.find({ apiVersion: 'v1', kind: 'Namespace' }, { name: 'other' })).toBeDefined()
    await forgetApplied(client, [], { namespace: 'blue', signal })
    expect(await readInventory(client, { namespace: 'blue', signal })).toEqual([])
  })
})

describe('W35: a copy', () => {
  const process = (spec: Readonly<Record<string, unknown>>): FileObject => ({
    file: 'evenkeel.yaml',
    line: 1,
    object: { apiVersion: 'workloads.evenkeel.dev/v1', kind: 'Process', metadata: { name: 'web' }, spec },
  })

  test('has a namespace of its own and other ports, also in its probes', () => {
    const { objects, warnings } = copyOf(
      [
        process({
          ports: [{ name: 'http', port: 8080, env: 'PORT' }],
          probes: { readiness: { http: { port: '8080' } } },
        }),
      ],
      'blue',
    )
    expect(warnings).toEqual([])
    expect(objects[0]?.object).toMatchObject({
      metadata: { name: 'web', namespace: 'blue' },
      spec: { ports: [{ name: 'http', port: 0, env: 'PORT' }], probes: { readiness: { http: { port: 'http' } } } },
    })
  })

  test('a port that its program cannot learn stays, with a warning', () => {
    const { objects, warnings } = copyOf([process({ ports: [{ name: 'http', port: 8080 }] })], 'blue')
    expect(objects[0]?.object.spec).toEqual({ ports: [{ name: 'http', port: 8080 }] })
    expect(warnings).toEqual([
      'Process web keeps port 8080: give it env: NAME, so that its program can take another one',
    ])
  })
})
