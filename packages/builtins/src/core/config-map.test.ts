import { expect, test } from 'vitest'
import { write } from '../writes.fixture.ts'
import { cases } from './config-map.fixture.ts'

for (const each of cases) {
  test(`configMapRules judge as Kubernetes does: ${each.name}`, () => {
    expect(write(each).errors).toEqual(each.errors)
  })
}

test('configMapRules count the bytes of all values together', () => {
  const data = { a: 'x'.repeat(1024 * 1024), b: 'y' }
  expect(write({ object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data } }).errors).toEqual([
    '[]: Too long: may not be more than 1048576 bytes',
  ])
})
