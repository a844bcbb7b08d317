import { expect, test } from 'vitest'
import { write } from '../writes.fixture.ts'
import { cases } from './resource-quota.fixture.ts'

for (const each of cases) {
  test(`resourceQuotaRules judge as Kubernetes does: ${each.name}`, () => {
    expect(write(each).errors).toEqual(each.errors)
  })
}
