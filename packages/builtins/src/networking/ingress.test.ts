import { expect, test } from 'vitest'
import { write } from '../writes.fixture.ts'
import { cases } from './ingress.fixture.ts'

for (const each of cases) {
  test(`ingressRules judge as Kubernetes does: ${each.name}`, () => {
    expect(write(each).errors).toEqual(each.errors)
  })
}
