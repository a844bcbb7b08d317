/**
 * Creates and deletes namespaces with objects: each must be gone some time after its deletion.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Caller } from './calls.ts'
import { plan } from './plan.ts'
import type { Ready } from './server-process.ts'
import type { Tally } from './tally.ts'

const goneMsMax = 30_000
const askMs = 200

export async function runChurn(server: Ready, tally: Tally): Promise<void> {
  const caller = new Caller(server, { sockets: 4 })
  for (let number = 0; !tally.isOver; number++) {
    try {
      await comeAndGo(caller, `churn-${number}`)
      tally.count('namespaces')
    } catch (error) {
      tally.error(`namespaces: ${String(error)}`)
    }
    await sleep(plan.churnPauseMs)
  }
  caller.close()
}

async function comeAndGo(caller: Caller, namespace: string): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}`
  await caller.must('POST', '/api/v1/namespaces', { body: { metadata: { name: namespace } } })
  await Promise.all(
    Array.from({ length: plan.churnObjects }, (_, index) =>
      caller.must('POST', `${path}/configmaps`, { body: { metadata: { name: `c${index}` } } }),
    ),
  )
  await caller.must('DELETE', path)
  const begun = performance.now()
  while ((await caller.call('GET', path)).status !== 404) {
    if (performance.now() - begun > goneMsMax) throw new Error(`${namespace} is still there`)
    await sleep(askMs)
  }
}
