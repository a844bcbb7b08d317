import { beforeAll, expect, test } from 'vitest'
import { write } from '../writes.fixture.ts'
import { loadExpressionLanguage } from './expressions.ts'
import { cases } from './policies.fixture.ts'

beforeAll(loadExpressionLanguage)

for (const each of cases) {
  test(`policyRules judge as Kubernetes does: ${each.name}`, () => {
    expect(write(each).errors).toEqual(each.errors)
  })
}
