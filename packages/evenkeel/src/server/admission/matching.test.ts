import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject, UnstructuredObject } from '#api'
import { columnsFor, makeCatalog, strategyFor } from '@evenkeel/builtins'
import { Informer } from '../informers.ts'
import { Registry } from '../registry/registry.ts'
import type { ResourceRef } from '../request-context.ts'
import type { AdmissionOperation } from './admission.ts'
import { acceptsPolicies, isAdmissionConfiguration, Matcher, policyCriteria, webhookCriteria } from './matching.ts'

const registry = new Registry(makeCatalog({ strategyFor, columnsFor }))
const namespaces = new Informer('', 'namespaces')
for (const [name, labels] of [
  ['red', { colour: 'red' }],
  ['blue', { colour: 'blue' }],
] as const) {
  namespaces.put(Buffer.from(JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } })), 1)
}
const matching = new Matcher({ registry, namespaces })

function targetOf(path: string, { namespace = 'red', name = 'x' } = {}): ResourceRef {
  const [group = '', version = '', resourcePath = ''] = path.split(' ')
  const [plural = '', part] = resourcePath.split('/')
  const resource = registry.find(group, version, plural)
  if (!resource) throw new Error(`no ${path}`)
  const subresource = resource.subresources.find((one) => one.name === part)
  return {
    resource,
    ...(subresource && { subresource }),
    namespace: resource.scope === 'Cluster' ? '' : namespace,
    name,
  }
}

const rule = (resources: readonly string[], more: JsonObject = {}): JsonObject => ({
  operations: ['*'],
  apiGroups: ['*'],
  apiVersions: ['*'],
  resources,
  ...more,
})
const labelled = (labels?: Record<string, string>): Pick<UnstructuredObject, 'metadata'> => ({
  metadata: { ...(labels && { labels }) },
})

function matches(
  match: JsonObject,
  target: ResourceRef,
  {
    operation = 'CREATE',
    object = labelled(),
    old,
  }: { operation?: AdmissionOperation; object?: Pick<UnstructuredObject, 'metadata'>; old?: UnstructuredObject } = {},
): string | undefined {
  const found = matching.match(policyCriteria(match), { operation, target, object, ...(old && { old }) })
  return found && `${found.group}/${found.version}`
}

describe('rules', () => {
  test.each([
    [['pods'], ' v1 pods', true],
    [['pods'], ' v1 pods/status', false],
    [['pods/status'], ' v1 pods/status', true],
    [['pods/*'], ' v1 pods/status', true],
    [['pods/*'], ' v1 pods', true],
    [['*'], ' v1 pods', true],
    [['*'], ' v1 pods/status', false],
    [['*/*'], ' v1 pods/status', true],
    [['*/status'], 'apps v1 deployments/status', true],
    [['*/status'], 'apps v1 deployments/scale', false],
    [['configmaps', 'secrets'], ' v1 pods', false],
  ])('with the resources %j: %s is covered: %s', (resources, path, isCovered) => {
    expect(matches({ resourceRules: [rule(resources)] }, targetOf(path)) !== undefined).toBe(isCovered)
  })

  test('are about operations, groups, versions, scopes and names', () => {
    const pods = targetOf(' v1 pods')
    expect(matches({ resourceRules: [rule(['pods'], { operations: ['UPDATE'] })] }, pods)).toBeUndefined()
    expect(matches({ resourceRules: [rule(['pods'], { apiGroups: ['apps'] })] }, pods)).toBeUndefined()
    expect(matches({ resourceRules: [rule(['pods'], { apiVersions: ['v2'] })] }, pods)).toBeUndefined()
    expect(matches({ resourceRules: [rule(['*'], { scope: 'Cluster' })] }, pods)).toBeUndefined()
    expect(matches({ resourceRules: [rule(['*'], { scope: 'Cluster' })] }, targetOf(' v1 namespaces'))).toBe('/v1')
    expect(
      matches({ resourceRules: [rule(['*'], { scope: 'Namespaced' })] }, targetOf(' v1 namespaces')),
    ).toBeUndefined()
    expect(matches({ resourceRules: [rule(['pods'], { resourceNames: ['y'] })] }, pods)).toBeUndefined()
    expect(matches({ resourceRules: [rule(['pods'], { resourceNames: ['x'] })] }, pods)).toBe('/v1')
    expect(matches({ resourceRules: [rule(['*'])], excludeResourceRules: [rule(['pods'])] }, pods)).toBeUndefined()
  })

  test('that are not there match everything for policies and nothing for webhooks', () => {
    expect(matches({}, targetOf(' v1 pods'))).toBe('/v1')
    expect(matching.match(webhookCriteria({}), { operation: 'CREATE', target: targetOf(' v1 pods') })).toBeUndefined()
  })

  test('find other forms of the same objects unless they must not, and prefer the one that was asked for', () => {
    const scalers = targetOf('autoscaling v2 horizontalpodautoscalers')
    const about = (...apiVersions: string[]): JsonObject =>
      rule(['horizontalpodautoscalers'], { apiGroups: ['autoscaling'], apiVersions })
    expect(matches({ resourceRules: [about('v1')] }, scalers)).toBe('autoscaling/v1')
    expect(matches({ resourceRules: [about('v1')], matchPolicy: 'Exact' }, scalers)).toBeUndefined()
    expect(matches({ resourceRules: [about('v1'), about('v2')] }, scalers)).toBe('autoscaling/v2')
    expect(
      matches({ resourceRules: [rule(['events'], { apiGroups: ['events.k8s.io'] })] }, targetOf(' v1 events')),
    ).toBe('events.k8s.io/v1')
  })
})

describe('selectors', () => {
  const all = { resourceRules: [rule(['*'])] }

  test('on objects look at what is wanted and at what was', () => {
    const selecting = { ...all, objectSelector: { matchLabels: { a: 'b' } } }
    const old = { apiVersion: 'v1', kind: 'Pod', metadata: { labels: { a: 'b' } } }
    expect(matches(selecting, targetOf(' v1 pods'))).toBeUndefined()
    expect(matches(selecting, targetOf(' v1 pods'), { object: labelled({ a: 'b' }) })).toBe('/v1')
    expect(matches(selecting, targetOf(' v1 pods'), { operation: 'UPDATE', old })).toBe('/v1')
  })

  test('on namespaces look at the namespace as it is, and at a Namespace as it is wanted', () => {
    const red = { ...all, namespaceSelector: { matchLabels: { colour: 'red' } } }
    expect(matches(red, targetOf(' v1 pods'))).toBe('/v1')
    expect(matches(red, targetOf(' v1 pods', { namespace: 'blue' }))).toBeUndefined()
    expect(matches(red, targetOf(' v1 nodes'))).toBe('/v1')
    expect(matches(red, targetOf(' v1 namespaces', { name: 'new' }), { object: labelled({ colour: 'red' }) })).toBe(
      '/v1',
    )
    expect(matches(red, targetOf(' v1 namespaces', { name: 'red' }), { operation: 'UPDATE' })).toBeUndefined()
    expect(matches(red, targetOf(' v1 namespaces', { name: 'red' }), { operation: 'DELETE' })).toBe('/v1')
    expect(matches(red, targetOf(' v1 namespaces/status', { name: 'red' }), { operation: 'UPDATE' })).toBeUndefined()
    expect(() => matches(red, targetOf(' v1 pods', { namespace: 'none' }))).toThrow('namespaces "none" not found')
  })

  test('on a namespace that is not there are only asked when everything else matches', () => {
    const red = { resourceRules: [rule(['secrets'])], namespaceSelector: { matchLabels: { colour: 'red' } } }
    expect(matches(red, targetOf(' v1 pods', { namespace: 'none' }))).toBeUndefined()
  })
})

test('Matching.couldMatch never denies what match finds', () => {
  const word = (...words: string[]): fc.Arbitrary<string[]> =>
    fc.uniqueArray(fc.constantFrom(...words), { minLength: 1, maxLength: 2 })
  const rules = fc.array(
    fc.record({
      operations: word('CREATE', 'UPDATE', '*'),
      apiGroups: word('', 'apps', 'autoscaling', '*'),
      apiVersions: word('v1', 'v2', '*'),
      resources: word('pods', 'deployments', 'horizontalpodautoscalers', '*', '*/status', 'deployments/*'),
      resourceNames: fc.constantFrom([], ['x'], ['y']),
      scope: fc.constantFrom('*', 'Namespaced', 'Cluster'),
    }),
    { maxLength: 3 },
  )
  const paths = fc.constantFrom(
    ' v1 pods',
    ' v1 pods/status',
    'apps v1 deployments',
    'apps v1 deployments/scale',
    'autoscaling v1 horizontalpodautoscalers',
    'autoscaling v2 horizontalpodautoscalers/status',
    ' v1 nodes',
  )
  const asked = fc.record({
    resourceRules: rules,
    excludeResourceRules: rules,
    matchPolicy: fc.constantFrom('Exact', 'Equivalent'),
    path: paths,
    operation: fc.constantFrom<AdmissionOperation>('CREATE', 'UPDATE'),
  })
  fc.assert(
    fc.property(asked, ({ path, operation, ...match }) => {
      const criteria = policyCriteria(match)
      const subject = { operation, target: targetOf(path), object: labelled() }
      if (matching.match(criteria, subject)) expect(matching.couldMatch(criteria, subject)).toBe(true)
    }),
  )
})

test('isAdmissionConfiguration knows the kinds that configure admission', () => {
  const plurals = registry
    .all()
    .filter((resource) => isAdmissionConfiguration({ resource }))
    .map(({ plural }) => plural)
    .sort()
  expect(plurals).toEqual([
    'mutatingadmissionpolicies',
    'mutatingadmissionpolicybindings',
    'mutatingwebhookconfigurations',
    'validatingadmissionpolicies',
    'validatingadmissionpolicybindings',
    'validatingwebhookconfigurations',
  ])
})

test('acceptsPolicies excepts policies, their bindings and reviews', () => {
  const plurals = registry
    .all()
    .filter((resource) => !acceptsPolicies({ resource }))
    .map(({ plural }) => plural)
    .sort()
  expect(plurals).toEqual([
    'localsubjectaccessreviews',
    'mutatingadmissionpolicies',
    'mutatingadmissionpolicybindings',
    'selfsubjectaccessreviews',
    'selfsubjectreviews',
    'selfsubjectrulesreviews',
    'subjectaccessreviews',
    'tokenreviews',
    'validatingadmissionpolicies',
    'validatingadmissionpolicybindings',
  ])
})
