import { expect, test } from 'vitest'
import { serverSuite } from './cases/index.ts'
import { collectionPath, groupOf, sample } from './samples.ts'

test('serverSuite: every case has a unique id and a rule', () => {
  const ids = serverSuite.map(({ id }) => id)
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
  for (const { id, rule } of serverSuite) {
    expect(id).toMatch(/^server\/[a-z-]+\/[a-z0-9-]+$/)
    expect(rule, id).toMatch(/^[A-Z`/a-z].+\.$/s)
    expect(rule, id).not.toMatch(/\n|undefined|\[object/)
  }
})

test('serverSuite covers every area with more than one case', () => {
  const counts = new Map<string, number>()
  for (const { id } of serverSuite) counts.set(id.split('/')[1] ?? '', (counts.get(id.split('/')[1] ?? '') ?? 0) + 1)
  expect([...counts.keys()].length).toBeGreaterThan(20)
  expect(serverSuite.length).toBeGreaterThan(900)
})

test('collectionPath and groupOf know scope and group', () => {
  expect(collectionPath('deployments', 'x')).toBe('/apis/apps/v1/namespaces/x/deployments')
  expect(collectionPath('clusterroles', 'x')).toBe('/apis/rbac.authorization.k8s.io/v1/clusterroles')
  expect([groupOf('pods'), groupOf('jobs')]).toEqual(['', 'batch'])
})

test('sample merges fields into a copy of the smallest object', () => {
  const made = sample('deployments', 'a', { spec: { replicas: 2, template: { spec: { containers: [] } } } })
  expect(made).toMatchObject({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'a' },
    spec: { replicas: 2, template: { spec: { containers: [] } }, selector: { matchLabels: { app: 'judge' } } },
  })
  expect(sample('deployments', 'a')).toMatchObject({ spec: { template: { spec: { containers: [{ name: 'main' }] } } } })
})
