import { expect, test } from 'vitest'
import type { KubeObject } from '#api'
import { isGranted } from './reference-grants.ts'

const from = { group: 'x.dev', kind: 'App', namespace: 'apps' }
const to = { group: '', kind: 'Secret', namespace: 'vault', name: 'key' }
const grant = (spec: object | undefined, metadata: object = {}): KubeObject =>
  ({
    apiVersion: 'evenkeel.dev/v1alpha1',
    kind: 'ReferenceGrant',
    metadata: { name: 'g', namespace: 'vault', ...metadata },
    ...(spec && { spec }),
  }) as KubeObject

test.each<[string, KubeObject, boolean]>([
  ['all of a kind', grant({ from: [from], to: [{ kind: 'Secret' }] }), true],
  ['one object by name', grant({ from: [from], to: [{ group: '', kind: 'Secret', name: 'key' }] }), true],
  ['another object', grant({ from: [from], to: [{ kind: 'Secret', name: 'other' }] }), false],
  ['another kind of target', grant({ from: [from], to: [{ kind: 'ConfigMap' }] }), false],
  ['another group of target', grant({ from: [from], to: [{ group: 'y.dev', kind: 'Secret' }] }), false],
  ['another kind of referer', grant({ from: [{ ...from, kind: 'Job' }], to: [{ kind: 'Secret' }] }), false],
  ['another group of referer', grant({ from: [{ ...from, group: 'y.dev' }], to: [{ kind: 'Secret' }] }), false],
  ['another namespace of referer', grant({ from: [{ ...from, namespace: 'b' }], to: [{ kind: 'Secret' }] }), false],
  ['nothing', grant(undefined), false],
  ['it elsewhere', grant({ from: [from], to: [{ kind: 'Secret' }] }, { namespace: 'other' }), false],
  [
    'it until it is deleted',
    grant({ from: [from], to: [{ kind: 'Secret' }] }, { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    false,
  ],
])('isGranted by a grant that allows %s', (_, one, expected) => {
  expect(isGranted([grant(undefined), one], { from, to })).toBe(expected)
})
