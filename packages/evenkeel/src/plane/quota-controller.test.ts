/** Quotas of a whole plane: counted by the controller, charged by the server. */
import { expect, test } from 'vitest'
import { declareKind, isForbidden } from '#api'
import { Client } from '#client'
import { startPlane, type Plane } from './plane.ts'
import { countedResource, quotaKind } from './quota-controller.ts'

const ConfigMap = declareKind({ group: '', version: 'v1', kind: 'ConfigMap', statusSubresource: false })
const namespace = 'default'

async function withPlane(use: (client: Client, plane: Plane) => Promise<void>): Promise<void> {
  // Nobody else makes objects in the namespace.
  const plane = await startPlane({ controllers: { rootCertificates: false, serviceAccounts: false } })
  try {
    await use(new Client({ transport: plane.transport }), plane)
  } finally {
    await plane.stop()
  }
}

const quota = (client: Client): Promise<Awaited<ReturnType<typeof client.get<typeof quotaKind>>>> =>
  client.get(quotaKind, { namespace, name: 'q' })
const make = (client: Client, name: string): Promise<unknown> =>
  client.create(ConfigMap, { metadata: { name, namespace } })

test('a quota is counted when it is made, kept when objects are made, and given back when they go', async () => {
  await withPlane(async (client, { controllers }) => {
    await make(client, 'before')
    await client.create(quotaKind, {
      metadata: { name: 'q', namespace },
      spec: { hard: { 'count/configmaps': '3', configmaps: '5', 'requests.cpu': '1' } },
    })
    await controllers.idle()
    expect((await quota(client)).status).toEqual({
      hard: { 'count/configmaps': '3', configmaps: '5', 'requests.cpu': '1' },
      used: { 'count/configmaps': '1', configmaps: '1' },
    })
    const made = await Promise.allSettled(Array.from({ length: 10 }, (_, index) => make(client, `a${index}`)))
    expect(made.filter(({ status }) => status === 'fulfilled').length).toBe(2)
    expect(made.filter((one) => one.status === 'rejected').every(({ reason }) => isForbidden(reason))).toBe(true)
    expect((await quota(client)).status?.used).toEqual({ 'count/configmaps': '3', configmaps: '3' })
    await client.delete({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'before', namespace } })
    await controllers.idle()
    // Whoever was charged may not be written yet: a lower count has to last.
    expect((await quota(client)).status?.used).toEqual({ 'count/configmaps': '3', configmaps: '3' })
    for await (const event of client.watch(quotaKind, { namespace }))
      if (event.type === 'MODIFIED' || event.type === 'ADDED')
        if (event.object.status?.used?.['configmaps'] === '2') break
    await make(client, 'after')
    await expect(make(client, 'too-many')).rejects.toThrow(
      'configmaps "too-many" is forbidden: exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=3, limited: count/configmaps=3',
    )
  })
})

test('a quota that changes is counted anew', async () => {
  await withPlane(async (client, { controllers }) => {
    await client.create(quotaKind, { metadata: { name: 'q', namespace }, spec: { hard: { configmaps: '1' } } })
    await controllers.idle()
    await make(client, 'a')
    await client.patch(
      { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q', namespace } },
      { spec: { hard: { configmaps: '2', secrets: '0' } } },
    )
    await controllers.idle()
    expect((await quota(client)).status).toEqual({
      hard: { configmaps: '2', secrets: '0' },
      used: { configmaps: '1', secrets: '0' },
    })
  })
})

test.each([
  ['configmaps', { group: '', plural: 'configmaps' }],
  ['count/configmaps', { group: '', plural: 'configmaps' }],
  ['count/widgets.example.com', { group: 'example.com', plural: 'widgets' }],
  ['requests.cpu', undefined],
  ['deployments', undefined],
])('countedResource knows what %s counts', (name, counted) => {
  expect(countedResource(name)).toEqual(counted)
})
