import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type * as fluent from 'kubernetes-fluent-client'
import { startClientTarget } from '../target.fixture.ts'
import type { ClientTarget } from '../target.fixture.ts'
import { makeEventLog } from './event-log.fixture.ts'

let target: ClientTarget
let client: typeof fluent
let namespace = ''

beforeAll(async () => {
  target = await startClientTarget()
  // The client reads the default kubeconfig at every request.
  vi.stubEnv('KUBECONFIG', target.kubeconfig)
  client = await import('kubernetes-fluent-client')
  const made = await client.K8s(client.kind.Namespace).Create({ metadata: { generateName: 'fluent-' } })
  namespace = made.metadata?.name ?? ''
})

afterAll(async () => {
  vi.unstubAllEnvs()
  await target.stop()
})

test('K8s: an object is created, read, listed by labels, patched and deleted', async () => {
  const { K8s, kind } = client
  const made = await K8s(kind.ConfigMap).Create({
    metadata: { name: 'a', namespace, labels: { of: 'fluent' } },
    data: { x: '1' },
  })
  expect(made).toMatchObject({ kind: 'ConfigMap', data: { x: '1' } })
  expect(await K8s(kind.ConfigMap).InNamespace(namespace).Get('a')).toMatchObject({ data: { x: '1' } })
  const list = await K8s(kind.ConfigMap).InNamespace(namespace).WithLabel('of', 'fluent').Get()
  expect(list.items.map(({ metadata }) => metadata?.name)).toEqual(['a'])

  const patched = await K8s(kind.ConfigMap, { namespace, name: 'a' }).Patch([
    { op: 'replace', path: '/data/x', value: '2' },
  ])
  expect(patched.data).toEqual({ x: '2' })
  await K8s(kind.ConfigMap).InNamespace(namespace).Delete('a')
  await expect(K8s(kind.ConfigMap).InNamespace(namespace).Get('a')).rejects.toMatchObject({
    status: 404,
    data: { reason: 'NotFound' },
  })
})

test('K8s: scale and status are written separately', async () => {
  const { K8s, kind } = client
  const labels = { app: 'web' }
  const spec = {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx' }] } },
  }
  await K8s(kind.Deployment).Create({ metadata: { name: 'web', namespace }, spec })
  await K8s(kind.Deployment).InNamespace(namespace).Scale(3, 'web')
  const status = await K8s(kind.Deployment).PatchStatus({
    metadata: { name: 'web', namespace },
    spec: { replicas: 9 },
    status: { replicas: 2 },
  })
  expect([status.spec?.replicas, status.status?.replicas]).toEqual([3, 2])
})

test('K8s.Create: creating an existing object fails with the Status of the server', async () => {
  const { K8s, kind } = client
  await K8s(kind.Secret).Create({ metadata: { name: 'twice', namespace } })
  await expect(K8s(kind.Secret).Create({ metadata: { name: 'twice', namespace } })).rejects.toMatchObject({
    ok: false,
    status: 409,
    data: { reason: 'AlreadyExists' },
  })
})

test('K8s.Apply: creates, changes, and keeps fields of other managers', async () => {
  const { K8s, kind } = client
  expect(await K8s(kind.ConfigMap).Apply({ metadata: { name: 'applied', namespace }, data: { a: '1' } })).toMatchObject(
    { data: { a: '1' } },
  )
  await K8s(kind.ConfigMap, { namespace, name: 'applied' }).Patch([{ op: 'add', path: '/data/b', value: 'theirs' }])
  expect(await K8s(kind.ConfigMap).Apply({ metadata: { name: 'applied', namespace }, data: { a: '2' } })).toMatchObject(
    { data: { a: '2', b: 'theirs' } },
  )
})

test('K8s.Watch: reports existing objects and changes', async () => {
  const { K8s, kind } = client
  await K8s(kind.ConfigMap).Create({ metadata: { name: 'there', namespace, labels: { seen: 'yes' } } })
  const log = makeEventLog<string>()
  const watcher = K8s(kind.ConfigMap)
    .InNamespace(namespace)
    .WithLabel('seen', 'yes')
    .Watch((object, phase) => {
      log.push(`${phase} ${object.metadata?.name}`)
    })
  await watcher.start()
  await log.until((all) => all.includes('ADDED there'))
  await K8s(kind.ConfigMap).Create({ metadata: { name: 'new', namespace, labels: { seen: 'yes' } } })
  await K8s(kind.ConfigMap, { namespace, name: 'new' }).Patch([{ op: 'add', path: '/data', value: { x: '1' } }])
  await K8s(kind.ConfigMap).InNamespace(namespace).Delete('new')
  await log.until((all) => all.includes('DELETED new'))
  expect(log.all).toEqual(['ADDED there', 'ADDED new', 'MODIFIED new', 'DELETED new'])
  watcher.close()
})
