import { expect, test } from 'vitest'
import { write } from '../writes.fixture.ts'
import { cases } from './node.fixture.ts'

for (const each of cases) {
  test(`nodeRules judge as Kubernetes does: ${each.name}`, () => {
    expect(write(each).errors).toEqual(each.errors)
  })
}
