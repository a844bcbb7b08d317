import { afterAll, beforeAll, describe, test } from 'vitest'
import { startClientTarget } from '../target.fixture.ts'
import type { ClientTarget } from '../target.fixture.ts'
import { findKubectls } from './binaries.ts'
import { playSession } from './play.ts'
import { controllerSessions, kubectlSessions } from './sessions/index.ts'
import { makeTurns } from './turns.fixture.ts'

const kubectls = findKubectls()

test.runIf(kubectls.length === 0)('kubectl', ({ skip }) => {
  skip('there is none on this machine; install one to judge with it')
})

// Starting kubectl costs more than what it does: more than two at a time only make each other slow.
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

  // A server of somebody else may have none beside it, and nobody would know.
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
