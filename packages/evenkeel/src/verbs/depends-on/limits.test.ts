import { describe, expect, test } from 'vitest'
import { declareKind, type KubeObject } from '#api'
import { rulesFor } from '#controller'
import { dependsOn, type DependsOnOptions } from './depends-on.ts'
import { App, Route } from './informers.fixture.ts'
import { beyondLimits, limitsOf, refsWithin } from './limits.ts'

const Zone = declareKind({ group: 'dns.test.dev', version: 'v1', kind: 'Zone', scope: 'Cluster' })

/** The rules about Apps and grants that follow from a declaration with these options. */
function rules(options: DependsOnOptions, kind = App): unknown {
  const verb = dependsOn(kind, (object: KubeObject) => object.metadata.name, options as never)
  const declaration = { for: Route, verbs: [verb] }
  return rulesFor({ ...declaration, ...verb.adds?.(declaration as never), cleanup: [] } as never).filter(
    ({ resources }) => ['apps', 'zones', 'referencegrants'].includes(resources[0] ?? ''),
  )
}

describe('F7: limits of dependsOn', () => {
  const app = { apiGroups: [App.group], resources: ['apps'], verbs: ['get', 'list', 'watch'] }

  test('F7: RBAC rules have the namespace and the names of the declaration', () => {
    expect(rules({})).toEqual([app])
    expect(rules({ namespace: 'x' })).toEqual([{ ...app, namespaces: ['x'] }])
    expect(rules({ names: ['b', 'a', 'b'] })).toEqual([{ ...app, resourceNames: ['a', 'b'] }])
    expect(rules({ namespace: 'x', names: ['a'] })).toEqual([{ ...app, resourceNames: ['a'], namespaces: ['x'] }])
  })

  test('F7: references into any namespace, and cluster-scoped kinds, need rules for the whole cluster', () => {
    expect(rules({ crossNamespace: 'allow' })).toEqual([{ ...app, namespaces: 'all' }])
    expect(rules({ namespace: 'x' }, Zone)).toMatchObject([{ resources: ['zones'], namespaces: 'all' }])
    expect(rules({ crossNamespace: 'granted', namespace: 'x' })).toMatchObject([
      { resources: ['apps'], namespaces: ['x'] },
      { resources: ['referencegrants'], namespaces: ['x'] },
    ])
  })

  test('F7: a reference beyond the limits is refused before it is read', () => {
    const limits = limitsOf({ namespace: 'x', names: ['a'] })
    expect(beyondLimits({ namespace: 'x', name: 'a' }, limits)).toBeUndefined()
    expect(beyondLimits({ namespace: '', name: 'a' }, limits)).toBeUndefined()
    expect(beyondLimits({ namespace: 'y', name: 'a' }, limits)).toBe('only references into namespace x are allowed')
    expect(beyondLimits({ namespace: 'x', name: 'b' }, limits)).toBe('only references to a are allowed')
  })

  test('F7: references without a namespace lead into the namespace of the limits', () => {
    const given = [undefined, 'a', { name: 'a' }, [{ name: 'a', namespace: 'y' }, 'b']]
    const refs = refsWithin((index: never) => given[index] as never, limitsOf({ namespace: 'x' }))
    expect(given.map((_, index) => refs(index as never))).toEqual([
      undefined,
      { name: 'a', namespace: 'x' },
      { name: 'a', namespace: 'x' },
      [
        { name: 'a', namespace: 'y' },
        { name: 'b', namespace: 'x' },
      ],
    ])
  })

  test.each([
    [{ namespace: '' }, 'namespace must not be empty'],
    [{ namespace: 'x', crossNamespace: 'deny' as const }, "remove crossNamespace: 'deny'"],
    [{ names: [] }, 'names must have 1 to 50 names'],
    [{ names: [''] }, 'none of them empty'],
  ])('F7: refuses %j', (options, message) => {
    expect(() => dependsOn(App, () => 'a', options)).toThrow(message)
  })
})
