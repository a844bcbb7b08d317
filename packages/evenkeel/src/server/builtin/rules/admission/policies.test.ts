import { beforeAll, expect, test } from 'vitest'
import { write } from '../writes.fixture.ts'
import { prepareExpressions } from './expressions.ts'
import { cases } from './policies.fixture.ts'

beforeAll(prepareExpressions)

for (const each of cases) {
  test(`policyRules judge as Kubernetes does: ${each.name}`, () => {
    expect(write(each).errors).toEqual(each.errors)
  })
}
