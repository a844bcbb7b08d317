import { expect, test } from 'vitest'
import { declareKind } from '#api'
import type { ControllerDeclaration } from '#controller'
import {
  aggregateRules,
  aggregates,
  aggregationController,
  type ClusterRoleObject,
} from './cluster-role-aggregation.ts'
import { World } from './world.fixture.ts'

const ClusterRole = declareKind<ClusterRoleObject>({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRole',
  scope: 'Cluster',
  statusSubresource: false,
})
const [read, write] = [
  { verbs: ['get'], apiGroups: ['test.dev'], resources: ['notes'] },
  { verbs: ['update'], apiGroups: ['test.dev'], resources: ['notes'] },
]

function role(name: string, labels: Record<string, string>, rest: Partial<ClusterRoleObject>): ClusterRoleObject {
  return { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name, labels }, ...rest }
}

test('gatherRules takes each rule once, in the order of selectors and names, and never its own', () => {
  const gathering = role(
    'a',
    { to: 'a' },
    {
      rules: [{ verbs: ['own'] }],
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { to: 'b' } }, { matchLabels: { to: 'a' } }] },
    },
  )
  const all = [
    role('z', { to: 'a' }, { rules: [read] }),
    role('c', { to: 'a' }, { rules: [write, read] }),
    role('y', { to: 'b' }, { rules: [read] }),
    role('n', {}, { rules: [{ verbs: ['no'] }] }),
    gathering,
    role('e', { to: 'a' }, {}),
  ]
  expect(aggregateRules(gathering, all)).toEqual([read, write])
  expect(aggregateRules(role('x', {}, { rules: [read] }), all)).toBeUndefined()
  expect(aggregateRules(role('x', {}, { aggregationRule: {} }), all)).toEqual([])
  expect(all.filter((other) => aggregates(gathering, other)).map(({ metadata }) => metadata.name)).toEqual([
    'z',
    'c',
    'y',
    'e',
  ])
})

test('aggregationController carries a labelled role through view and edit to admin, and takes it back', async () => {
  const world = await World.start()
  const running = world.run(
    world.manager({ controllers: [aggregationController() as unknown as ControllerDeclaration] }),
  )
  const has = async (name: string): Promise<boolean> =>
    JSON.stringify((await world.client.get(ClusterRole, { name })).rules).includes('test.dev')
  const before = (await world.client.get(ClusterRole, { name: 'admin' })).rules
  await world.client.create(ClusterRole, {
    metadata: { name: 'notes-view', labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } },
    rules: [read],
  })
  for (const name of ['view', 'edit', 'admin']) await world.until(() => has(name))
  await world.client.patch(
    { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'notes-view' } },
    { metadata: { labels: { 'rbac.authorization.k8s.io/aggregate-to-view': null } } },
  )
  for (const name of ['view', 'edit', 'admin']) await world.until(async () => !(await has(name)))
  expect((await world.client.get(ClusterRole, { name: 'admin' })).rules).toEqual(before)
  await world.client.patch(
    { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'view' } },
    { rules: [write] },
  )
  await world.until(async () => !(await has('view')))
  expect(world.lines.filter(({ level }) => level === 'error')).toEqual([])
  await running.stop()
  await world.server.stop()
})

test('aggregationController writes nothing when everything is as it should be', async () => {
  const world = await World.start()
  const running = world.run(
    world.manager({ controllers: [aggregationController() as unknown as ControllerDeclaration] }),
  )
  await world.until(() => world.calls.length > 0)
  for (let turn = 0; turn < 20; turn++) await world.clock.advance(100)
  expect(world.calls.length).toBeGreaterThan(0)
  expect(world.calls.filter((call) => !call.startsWith('GET'))).toEqual([])
  await running.stop()
  await world.server.stop()
})
