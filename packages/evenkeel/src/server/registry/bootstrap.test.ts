import { expect, test } from 'vitest'
import { SimulatedClock } from '#base'
import { defaultRbacObjects } from '@evenkeel/builtins'
import { openMemoryStore } from '#store'
import { rbac, startCompany } from '../authz/users.fixture.ts'

test('expandDefaults has what a cluster of 1.36 has, every binding with its role', () => {
  const all = defaultRbacObjects()
  const count = (wanted: string): number => all.filter(({ plural }) => plural === wanted).length
  expect([count('clusterroles'), count('clusterrolebindings'), count('roles'), count('rolebindings')]).toEqual([
    69, 50, 7, 7,
  ])
  const named = new Set(all.map(({ kind, namespace, name }) => `${kind} ${namespace}/${name}`))
  expect(named.size).toBe(all.length)
  for (const { fields, namespace } of all) {
    const { kind, name } = (fields['roleRef'] ?? {}) as { kind?: string; name?: string }
    if (kind !== undefined) expect(named).toContain(`${kind} ${kind === 'Role' ? namespace : ''}/${name ?? ''}`)
  }
})

test('expandDefaults: rules are read as they are written, and gathering roles have what they gather', () => {
  const rulesOf = (wanted: string): unknown => defaultRbacObjects().find(({ name }) => name === wanted)?.fields['rules']
  expect(rulesOf('cluster-admin')).toEqual([
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
    { verbs: ['*'], nonResourceURLs: ['*'] },
  ])
  expect(rulesOf('extension-apiserver-authentication-reader')).toEqual([
    {
      verbs: ['get', 'list', 'watch'],
      apiGroups: [''],
      resources: ['configmaps'],
      resourceNames: ['extension-apiserver-authentication'],
    },
  ])
  const [view, edit, admin] = ['view', 'edit', 'admin'].map((name) => rulesOf(name) as unknown[])
  expect(edit).toEqual(expect.arrayContaining(view ?? []))
  expect(admin).toEqual(expect.arrayContaining(edit ?? []))
})

test('a server that starts on a store adds what is missing, and leaves alone what asks for it', async () => {
  const store = openMemoryStore({ clock: new SimulatedClock() })
  {
    await using first = await startCompany({ store })
    const { admin } = first
    await admin('DELETE', `${rbac}/clusterrolebindings/system:discovery`)
    await admin('PATCH', `${rbac}/clusterroles/system:basic-user`, {
      rules: [{ verbs: ['get'], apiGroups: ['x'], resources: ['y'] }],
      metadata: { labels: { 'kubernetes.io/bootstrapping': null, own: 'kept' } },
    })
    await admin('PATCH', `${rbac}/clusterroles/system:discovery`, {
      rules: [],
      metadata: { annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'false' } },
    })
    await admin('PATCH', `${rbac}/clusterrolebindings/system:public-info-viewer`, {
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'w' }],
    })
    await admin('DELETE', `${rbac}/clusterrolebindings/system:kube-dns`)
    await admin('POST', `${rbac}/clusterrolebindings`, {
      metadata: { name: 'system:kube-dns' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    })
    await admin('PATCH', `${rbac}/clusterroles/view`, {
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { mine: 'yes' } }] },
    })
  }
  {
    await using second = await startCompany({ store })
    const read = async (path: string): Promise<Record<string, unknown>> =>
      (await second.admin('GET', `${rbac}/${path}`)).json
    expect(await read('clusterrolebindings/system:discovery')).toMatchObject({ roleRef: { name: 'system:discovery' } })
    const basic = await read('clusterroles/system:basic-user')
    expect(basic).toMatchObject({
      metadata: { labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', own: 'kept' } },
    })
    expect(basic['rules']).toHaveLength(4)
    expect((await read('clusterroles/system:discovery'))['rules'] ?? []).toEqual([])
    expect((await read('clusterrolebindings/system:public-info-viewer'))['subjects']).toHaveLength(3)
    expect(await read('clusterrolebindings/system:kube-dns')).toMatchObject({ roleRef: { name: 'system:kube-dns' } })
    expect((await read('clusterroles/view'))['aggregationRule']).toMatchObject({
      clusterRoleSelectors: [
        { matchLabels: { mine: 'yes' } },
        { matchLabels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } },
      ],
    })
  }
  const head = await store.head()
  await (await startCompany({ store })).server.server.stop()
  expect(await store.head()).toBe(head)
  await store.close()
})

test('two servers that start on one store at once agree', async () => {
  const store = openMemoryStore({ clock: new SimulatedClock() })
  const companies = await Promise.all([startCompany({ store }), startCompany({ store })])
  for (const { admin } of companies) expect((await admin('GET', `${rbac}/clusterroles`)).json['items']).toHaveLength(69)
  for (const { server } of companies) await server.server.stop()
  await store.close()
})

const flowSchemas = '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas'

test('a server restores its own objects of flow control at its start, unless they exclude themselves', async () => {
  const store = openMemoryStore({ clock: new SimulatedClock() })
  {
    await using first = await startCompany({ store })
    const change = { spec: { matchingPrecedence: 3 } }
    const annotations = { 'apf.kubernetes.io/autoupdate-spec': 'false' }
    await first.admin('PATCH', `${flowSchemas}/probes`, change)
    await first.admin('PATCH', `${flowSchemas}/system-nodes`, { ...change, metadata: { annotations } })
    await first.admin('DELETE', `${flowSchemas}/catch-all`)
  }
  await using second = await startCompany({ store })
  const precedence = async (name: string): Promise<unknown> =>
    ((await second.admin('GET', `${flowSchemas}/${name}`)).json['spec'] as { matchingPrecedence: number })
      .matchingPrecedence
  expect([await precedence('probes'), await precedence('system-nodes'), await precedence('catch-all')]).toEqual([
    2, 3, 10_000,
  ])
})

test('a start on a complete store writes nothing', async () => {
  const store = openMemoryStore({ clock: new SimulatedClock() })
  {
    await using first = await startCompany({ store })
    await first.admin('GET', `${flowSchemas}/probes`)
  }
  const head = await store.head()
  await using second = await startCompany({ store })
  await second.admin('GET', `${flowSchemas}/probes`)
  expect(await store.head()).toBe(head)
})
