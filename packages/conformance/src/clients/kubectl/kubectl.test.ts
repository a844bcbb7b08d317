import { afterAll, beforeAll, describe, test } from 'vitest'
import { startClientTarget } from '../target.fixture.ts'
import type { ClientTarget } from '../target.fixture.ts'
import { findKubectls } from './binaries.ts'
import { playSession } from './play.ts'
import { controllerSessions, kubectlSessions } from './sessions/index.ts'
import { makeTurns } from './turns.fixture.ts'

const kubectls = findKubectls()

test.runIf(kubectls.length === 0)('kubectl', ({ skip }) => {
  skip('kubectl is not installed; install it to run this test')
})

// Starting kubectl costs more than its work: more than two at a time only slow each other down.
const turns = makeTurns(2)

for (const kubectl of kubectls) {
  describe.concurrent(`kubectl ${kubectl.version}`, () => {
    let target: ClientTarget
    beforeAll(async () => {
      target = await startClientTarget()
    })
    afterAll(() => target.stop())

    for (const session of kubectlSessions)
      test(session.name, () => turns(() => playSession(session, { kubectl, ...target })), 240_000)
  })

  // An external server may run without controllers, and there is no way to find out.
  const describeOurs = process.env['EVENKEEL_CLIENTS_KUBECONFIG'] === undefined ? describe.concurrent : describe.skip
  describeOurs(`kubectl ${kubectl.version} with controllers`, () => {
    let target: ClientTarget
    beforeAll(async () => {
      target = await startClientTarget({ controllers: true })
    })
    afterAll(() => target.stop())

    for (const session of controllerSessions)
      test(session.name, () => turns(() => playSession(session, { kubectl, ...target })), 240_000)
  })
}
