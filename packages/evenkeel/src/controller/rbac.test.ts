import { expect, test } from 'vitest'
import { metadataOnly } from '#client'
import { rulesFor } from './rbac.ts'
import { ConfigMap, Gadget, Realm, Widget } from './world.fixture.ts'

const always = [
  { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch', 'update'] },
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] },
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
]

test('rulesFor a kind alone: read it, write its status, tell events, hold a lease', () => {
  expect(rulesFor({ for: Widget })).toEqual([
    ...always,
    { apiGroups: ['test.dev'], resources: ['widgets'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: ['test.dev'], resources: ['widgets/status'], verbs: ['get', 'patch', 'update'] },
  ])
})

test('rulesFor owned and watched kinds, a cleanup, and what the author adds; each resource once', () => {
  const extra = { apiGroups: [''], resources: ['secrets'], verbs: ['get'], resourceNames: ['key'] }
  const rules = rulesFor({
    for: Widget,
    owns: [Gadget, { kind: ConfigMap }],
    watches: [
      { kind: Realm, map: () => [] },
      { kind: metadataOnly(Gadget), map: () => [] },
    ],
    cleanup: () => undefined,
    rbac: [extra],
  })
  expect(rules).toEqual([
    {
      apiGroups: [''],
      resources: ['configmaps'],
      verbs: ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'],
    },
    ...always,
    {
      apiGroups: ['test.dev'],
      resources: ['gadgets'],
      verbs: ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'],
    },
    { apiGroups: ['test.dev'], resources: ['realms'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: ['test.dev'], resources: ['widgets'], verbs: ['get', 'list', 'watch', 'patch', 'update'] },
    { apiGroups: ['test.dev'], resources: ['widgets/finalizers'], verbs: ['update'] },
    { apiGroups: ['test.dev'], resources: ['widgets/status'], verbs: ['get', 'patch', 'update'] },
    extra,
  ])
})

test('rulesFor children where no owner reference reaches: they are listed on their parent', () => {
  expect(rulesFor({ for: Widget, owns: [{ kind: Gadget, elsewhere: true }] })).toContainEqual({
    apiGroups: ['test.dev'],
    resources: ['widgets'],
    verbs: ['get', 'list', 'watch', 'patch'],
  })
})

test('rulesFor one owned kind: its owner may be protected from deletion', () => {
  expect(rulesFor({ for: Widget, owns: [Gadget] })).toContainEqual({
    apiGroups: ['test.dev'],
    resources: ['widgets/finalizers'],
    verbs: ['update'],
  })
})

test('rulesFor a kind of which only two words are known asks for the rest', () => {
  expect(() =>
    rulesFor({ for: Widget, watches: [{ kind: { apiVersion: 'x.dev/v1', kind: 'Thing' }, map: () => [] }] }),
  ).toThrow(
    'cannot derive RBAC rules for Thing (x.dev/v1): its plural is not known; use a kind made by defineKind or declareKind',
  )
  const partial = { apiVersion: 'x.dev/v1', kind: 'Thing', plural: 'things' }
  expect(() => rulesFor({ for: Widget, watches: [{ kind: partial, map: () => [] }] })).toThrow(
    'cannot derive RBAC rules for Thing (x.dev/v1)',
  )
})
