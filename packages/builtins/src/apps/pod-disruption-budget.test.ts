import { expect, test } from 'vitest'
import { write } from '../writes.fixture.ts'
import { cases } from './pod-disruption-budget.fixture.ts'

for (const each of cases) {
  test(`podDisruptionBudgetRules judge as Kubernetes does: ${each.name}`, () => {
    expect(write(each).errors).toEqual(each.errors)
  })
}
