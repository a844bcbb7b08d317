import { expect, test } from 'vitest'
import { silentLogger, SimulatedClock } from '#base'
import { columnsFor, makeCatalog, strategyFor } from '@evenkeel/builtins'
import { openMemoryStore, type Store } from '#store'
import { Informers } from './informers.ts'
import { Registry } from './registry/registry.ts'
import { objectKey } from './storage/storage.ts'

const storage = { group: 'rbac.authorization.k8s.io', plural: 'roles', version: 'v1', kind: 'Role' }

function role(name: string, namespace = 'default'): { key: string; value: Uint8Array } {
  return {
    key: objectKey('default', storage, { namespace, name }),
    value: Buffer.from(
      JSON.stringify({ kind: 'Role', apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name, namespace } }),
    ),
  }
}

async function makeViews(): Promise<{ store: Store; informers: Informers }> {
  const clock = new SimulatedClock()
  const store = openMemoryStore({ clock })
  const informers = new Informers({
    store,
    clock,
    log: silentLogger,
    cluster: 'default',
    registry: new Registry(makeCatalog({ strategyFor, columnsFor })),
  })
  await store.commit({ ...role('system:first'), expect: 0 })
  return { store, informers }
}

test('a view has what was there, follows what comes and goes, and counts versions', async () => {
  const { store, informers } = await makeViews()
  const view = informers.forResource('rbac.authorization.k8s.io', 'roles')
  await informers.start()
  const names = (): (string | undefined)[] => view.list().map(({ metadata }) => metadata.name)
  expect(names()).toEqual(['system:first'])
  const before = view.version
  const made = await store.commit({ ...role('b/c % d', 'other'), expect: 0 })
  await informers.waitForRevision(await store.head())
  expect(names()).toEqual(['system:first', 'b/c % d'])
  expect(view.version).toBeGreaterThan(before)
  expect(view.get('b/c % d', { namespace: 'other' })?.metadata.name).toBe('b/c % d')
  await store.commit({ key: role('b/c % d', 'other').key, expect: made.ok ? made.revision : 0 })
  await informers.waitForRevision(await store.head())
  expect(names()).toEqual(['system:first'])
  informers.stop()
  await store.close()
})

test('caughtUp resolves for revisions of other kinds, and when the views are stopped', async () => {
  const { store, informers } = await makeViews()
  informers.forResource('rbac.authorization.k8s.io', 'roles')
  await informers.start()
  await store.commit({ key: '/default/core/configmaps/default/x', value: Buffer.from('{}'), expect: 0 })
  await informers.waitForRevision(await store.head())
  const waiting = informers.waitForRevision((await store.head()) + 10)
  informers.stop()
  await waiting
  expect(() => informers.forResource('', 'namespaces')).toThrow('requested too late')
  expect(informers.has('', 'namespaces')).toBe(false)
  await store.close()
})
