import { expect, test } from 'vitest'
import { write } from '../writes.fixture.ts'
import { cases } from './certificate-signing-request.fixture.ts'

for (const each of cases) {
  test(`certificateSigningRequestRules judge as Kubernetes does: ${each.name}`, () => {
    expect(write(each).errors).toEqual(each.errors)
  })
}
