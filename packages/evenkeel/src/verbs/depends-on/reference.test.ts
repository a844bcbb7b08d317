import { describe, expect, test } from 'vitest'
import fc from 'fast-check'
import { declareKind } from '#api'
import type { KubeObject } from '#api'
import { compareRefs, formatRef, namespaceKey, kindKey, refKey, targetsOf } from './reference.ts'
import type { KindChoice, Reference } from './reference.ts'

const App = declareKind({ group: 'app.test.dev', version: 'v1', kind: 'App' })
const Zone = declareKind({ group: 'app.test.dev', version: 'v1', kind: 'Zone', scope: 'Cluster' })
const referer: KubeObject = {
  apiVersion: 'route.test.dev/v1',
  kind: 'Route',
  metadata: { name: 'r', namespace: 'here' },
}

function targets(
  references: readonly (Reference | string)[] | Reference | string | undefined,
  kinds: KindChoice = [App],
): unknown[] {
  return targetsOf(referer, () => references, kinds).map(({ group, kind, namespace, name, choice }) => [
    group,
    kind,
    namespace,
    name,
    choice !== undefined,
  ])
}

describe('targetsOf', () => {
  test('takes one reference, several, names, and none', () => {
    expect(targets(undefined)).toEqual([])
    expect(targets('a')).toEqual([['app.test.dev', 'App', 'here', 'a', true]])
    expect(targets({ name: 'a', namespace: 'there' })).toEqual([['app.test.dev', 'App', 'there', 'a', true]])
    expect(targets([{ name: 'a' }, 'b']).length).toBe(2)
  })

  test('takes the kind from the reference, with or without a version, and finds the group where the declaration has it', () => {
    expect(targets({ name: 'a', kind: 'App' }, [App, Zone])).toEqual([['app.test.dev', 'App', 'here', 'a', true]])
    expect(targets({ name: 'a', kind: 'Zone', namespace: 'there' }, [App, Zone])).toEqual([
      ['app.test.dev', 'Zone', '', 'a', true],
    ])
    expect(targets({ name: 'a', kind: 'Deployment', apiVersion: 'apps/v1beta9' }, 'any')).toEqual([
      ['apps', 'Deployment', 'here', 'a', true],
    ])
    expect(targets({ name: 'a', kind: 'ConfigMap' }, 'any')).toEqual([['', 'ConfigMap', 'here', 'a', true]])
  })

  test('a kind that is not provided for is no target', () => {
    expect(targets({ name: 'a', kind: 'Secret', group: '' })).toEqual([['', 'Secret', 'here', 'a', false]])
    expect(targets({ name: 'a', kind: 'App', group: 'other.dev' })).toEqual([['other.dev', 'App', 'here', 'a', false]])
    expect(targets({ name: 'a' }, 'any')).toEqual([['', '', 'here', 'a', false]])
    expect(targets({ name: 'a' }, [App, Zone])).toEqual([['', '', 'here', 'a', false]])
  })

  test('whatever stands in a spec, nothing is thrown and nothing but texts comes out', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record(
            {
              name: fc.anything(),
              namespace: fc.anything(),
              group: fc.anything(),
              kind: fc.anything(),
              apiVersion: fc.anything(),
            },
            { requiredKeys: [] },
          ),
          { maxLength: 5 },
        ),
        fc.constantFrom<KindChoice>([App], [App, Zone], 'any'),
        (references, kinds) => {
          for (const { group, kind, namespace, name } of targetsOf(referer, () => references as never, kinds))
            expect([group, kind, namespace, name].map((text) => typeof text)).toEqual([
              'string',
              'string',
              'string',
              'string',
            ])
        },
      ),
    )
  })

  test('more references than anybody means are refused', () => {
    expect(() => targets(Array.from({ length: 1001 }, (_, index) => `a${index}`))).toThrow(
      'Route r refers to 1001 objects; at most 1000 are allowed',
    )
  })
})

describe('keys of places', () => {
  test('no two places share one, whatever they are called, and no place is taken for a kind or a namespace', () => {
    const place = fc.record({ group: fc.string(), kind: fc.string(), namespace: fc.string(), name: fc.string() })
    fc.assert(
      fc.property(place, place, (a, b) => {
        expect(refKey(a) === refKey(b)).toBe(compareRefs(a, b) === 0)
        expect(new Set([refKey(a), kindKey(b), namespaceKey(b.namespace)]).size).toBe(3)
      }),
    )
  })

  test('formatPlace is for people', () => {
    expect(formatRef({ group: 'g', kind: 'App', namespace: 'n', name: 'a' })).toBe('App n/a')
    expect(formatRef({ group: 'g', kind: 'Zone', namespace: '', name: 'a' })).toBe('Zone a')
  })
})
