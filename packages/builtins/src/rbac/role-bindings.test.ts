import { expect, test } from 'vitest'
import { write } from '../writes.fixture.ts'
import { cases } from './role-bindings.fixture.ts'

for (const each of cases) {
  test(`roleBindingRules judge as Kubernetes does: ${each.name}`, () => {
    expect(write(each).errors).toEqual(each.errors)
  })
}
