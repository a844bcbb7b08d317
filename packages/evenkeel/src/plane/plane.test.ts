import { expect, test } from 'vitest'
import { createLogger, SystemClock } from '#base'
import type { LogRecord } from '#base'
import { declareKind } from '#api'
import { Client } from '#client'
import { startPlane } from './plane.ts'
import type { Plane, PlaneOptions } from './plane.ts'

const Namespace = declareKind({ group: '', version: 'v1', kind: 'Namespace', scope: 'Cluster' })
const ConfigMap = declareKind({ group: '', version: 'v1', kind: 'ConfigMap', statusSubresource: false })
const ServiceAccount = declareKind({ group: '', version: 'v1', kind: 'ServiceAccount', statusSubresource: false })

async function withPlane(options: PlaneOptions, use: (client: Client, plane: Plane) => Promise<void>): Promise<void> {
  const lines: LogRecord[] = []
  const plane = await startPlane({
    ...options,
    log: createLogger({
      clock: new SystemClock(),
      sink: (record) => {
        lines.push(record)
      },
    }),
  })
  try {
    await use(new Client({ transport: plane.transport }), plane)
  } finally {
    await plane.stop()
  }
  expect(lines.filter(({ level }) => level === 'error')).toEqual([])
}

test('startPlane runs what a cluster does by itself: accounts and certificates come, namespaces go', async () => {
  await withPlane({ listen: {} }, async (client, { controllers, address }) => {
    await client.create(Namespace, { metadata: { name: 'shop' } })
    await client.create(ConfigMap, { metadata: { name: 'a', namespace: 'shop' } })
    await controllers.idle()
    expect(await client.find(ServiceAccount, { name: 'default', namespace: 'shop' })).toBeDefined()
    expect(await client.find(ConfigMap, { name: 'kube-root-ca.crt', namespace: 'shop' })).toMatchObject({
      data: { 'ca.crt': address?.caPem },
    })
    await client.delete({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
    await controllers.idle()
    expect(await client.find(Namespace, { name: 'shop' })).toBeUndefined()
  })
})

test('startPlane runs the controllers that were not turned off', async () => {
  await withPlane({ controllers: { serviceAccounts: false } }, async (client, { controllers }) => {
    await controllers.idle()
    expect(await client.find(ServiceAccount, { name: 'default', namespace: 'default' })).toBeUndefined()
  })
  await withPlane({ controllers: false }, async (client, { controllers }) => {
    await client.create(Namespace, { metadata: { name: 'shop' } })
    await client.delete({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
    await controllers.idle()
    expect(await client.find(Namespace, { name: 'shop' })).toBeDefined()
  })
  await expect(startPlane({ controllers: { nobody: true } as never })).rejects.toThrow(
    'there is no controller "nobody"',
  )
  await expect(startPlane({ controllersDelayMs: -1 })).rejects.toThrow(RangeError)
})

test('controllers of a plane act as users of their own: what they are not allowed to do is not done', async () => {
  const binding = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'system:controller:service-account-controller' },
  }
  const plane = await startPlane({ controllersDelayMs: 0 })
  try {
    const client = new Client({ transport: plane.transport })
    await plane.controllers.idle()
    const before = await client.get({ apiVersion: binding.apiVersion, kind: binding.kind }, binding.metadata)
    await client.delete(binding)
    await client.create(Namespace, { metadata: { name: 'shop' } })
    await plane.controllers.idle()
    expect(await client.find(ServiceAccount, { name: 'default', namespace: 'shop' })).toBeUndefined()
    const { resourceVersion: _, uid: __, ...metadata } = before.metadata
    await client.create({ ...before, metadata } as never)
    const watching = new AbortController()
    for await (const event of client.watch(ServiceAccount, {
      namespace: 'shop',
      sendInitialEvents: true,
      resourceVersionMatch: 'NotOlderThan',
      signal: watching.signal,
    })) {
      if (event.type === 'ADDED') break
    }
  } finally {
    await plane.stop()
  }
})

test('a plane stops at once when it is told to before its controllers have started', async () => {
  await withPlane({}, () => Promise.resolve())
  await withPlane({ controllersDelayMs: 3_600_000 }, () => Promise.resolve())
})
