import { expect, test } from 'vitest'
import { write } from '../writes.fixture.ts'
import { cases } from './endpoints.fixture.ts'

for (const each of cases) {
  test(`endpointsRules judge as Kubernetes does: ${each.name}`, () => {
    expect(write(each).errors).toEqual(each.errors)
  })
}
