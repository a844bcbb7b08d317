import { expect, test } from 'vitest'
import { write } from '../writes.fixture.ts'
import { cases } from './endpoint-slice.fixture.ts'
import { endpointSliceStrategy } from './endpoints.ts'

for (const each of cases) {
  test(`endpointSliceRules judge as Kubernetes does: ${each.name}`, () => {
    expect(write(each).errors).toEqual(each.errors)
  })
}

test('endpointSliceRules count labels as content, annotations not', () => {
  const slice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'a' },
    addressType: 'IPv4',
  }
  const changes = (other: object): boolean | undefined =>
    endpointSliceStrategy.changesGeneration?.({ ...slice, ...other }, slice)
  expect(changes({ metadata: { labels: { a: 'b' } } })).toBe(true)
  expect(changes({ endpoints: [] })).toBe(true)
  expect(changes({ metadata: { annotations: { a: 'b' }, resourceVersion: '2' } })).toBe(false)
})
