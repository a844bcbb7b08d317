import { expect, test } from 'vitest'
import { declareKind } from '#api'
import { revisions } from './children.ts'

const ConfigMap = declareKind({ group: '', version: 'v1', kind: 'ConfigMap', statusSubresource: false })

test.each([-1, 1.5, NaN])('revisions refuses keep %d', (keep) => {
  expect(() => revisions(ConfigMap, { keep })).toThrow(`keep must be a whole number of 0 or more, got ${keep}`)
})

test('revisions accepts to keep none, is named after its series, and owns its kind', () => {
  const verb = revisions(ConfigMap, { keep: 0 })
  expect([verb.name, verb.adds?.({} as never)]).toEqual(['revisions configmap', { owns: [ConfigMap] }])
  expect(revisions(ConfigMap, { name: 'pages' }).name).toBe('revisions pages')
})
